/**
 * Version 1 of the schema.
 *
 * Ids and events are stored as JSON writes strings, without the quotes: what most ids look like
 * anyway, and PostgreSQL's text can hold neither U+0000 nor half a surrogate pair. So a row's hash
 * can be computed in the database, and anybody can check it with plain SQL.
 *
 * The rows form the chain; what holds it together stands in the database itself, for whoever writes
 * there: a row that does not follow, and every change but the erasing of a payload, is refused.
 *
 * @param s the schema, quoted.
 */
export function migration1(s: string): string {
  return `
create table ${s}.threads (
  thread bigint generated always as identity primary key,
  -- SHA-256 of JSON.stringify([tenant_id, thread_id]): the names can be too long for an index.
  name bytea not null unique,
  tenant_id text not null,
  thread_id text not null,
  -- The last row: what is cut off the end of a thread is missed.
  ordinal bigint not null default 0,
  hash bytea not null default decode(repeat('00', 32), 'hex'),
  -- Rows up to this one are archived.
  archived bigint not null default 0 check (archived between 0 and ordinal),
  check (name = sha256(convert_to('["' || tenant_id || '","' || thread_id || '"]', 'UTF8')))
) with (fillfactor = 70);
create index threads_of_tenant on ${s}.threads (left(tenant_id, 64));

-- That the thread is there is seen to where rows are added: a foreign key would ask for each row.
create table ${s}.rows (
  thread bigint not null,
  ordinal bigint not null check (ordinal > 0),
  prev bytea not null,
  hash bytea not null,
  run_id text,
  event_id text,
  -- The first 16 bytes of the event id's SHA-256: the id can be too long for an index.
  event_key uuid,
  trace_id text,
  span_id text,
  digest bytea not null,
  event text not null,
  primary key (thread, ordinal)
);
create unique index rows_event on ${s}.rows (thread, event_key) where event_key is not null;
create index rows_run on ${s}.rows (left(run_id, 64)) where run_id is not null;

-- What appends of the last minutes came to, where they brought an entry without an event id: asked
-- again, because the answer was lost, they are not done twice.
create table ${s}.batches (
  batch uuid primary key,
  at timestamptz not null default clock_timestamp(),
  places integer[] not null,
  ordinals bigint[] not null,
  hashes bytea[] not null
);
create index batches_at on ${s}.batches (at);

create function ${s}.row_hash(
  prev bytea, tenant_id text, thread_id text, ordinal bigint, run_id text, event_id text,
  trace_id text, span_id text, digest bytea
) returns bytea language sql stable parallel safe as $$
  select sha256(convert_to(
    '["' || encode(prev, 'hex') || '","' || tenant_id || '","' || thread_id || '",' || ordinal
    || coalesce(',"' || run_id || '"', ',null') || coalesce(',"' || event_id || '"', ',null')
    || coalesce(',"' || trace_id || '"', ',null') || coalesce(',"' || span_id || '"', ',null')
    || ',"' || encode(digest, 'hex') || '"]', 'UTF8'))
$$;

create function ${s}.event_key(event_id text) returns uuid language sql stable parallel safe as $$
  select encode(substring(sha256(convert_to(event_id, 'UTF8')) for 16), 'hex')::uuid
$$;

create function ${s}.is_erased(event text) returns boolean language sql immutable parallel safe as $$
  select octet_length(event) < 1024 and event ~
    '^\\{"erased":true,"kind":"([^"\\\\]|\\\\.)*","timestamp":"([^"\\\\]|\\\\.)*"\\}$'
$$;

create function ${s}.refuse() returns trigger language plpgsql as $$
begin
  raise exception 'audit log: % on %.% is refused: rows are never deleted',
    lower(tg_op), tg_table_schema, tg_table_name using errcode = 'integrity_constraint_violation';
end
$$;

create function ${s}.check_added() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off as $$
declare
  bad record;
begin
  perform from ${s}.threads where thread in (select thread from added) order by thread for update;
  select a.thread, a.ordinal into bad
    from (select *, lag(ordinal) over same as ordinal_before, lag(hash) over same as hash_before
        from added window same as (partition by thread order by ordinal)) a
      left join ${s}.threads t on t.thread = a.thread
    where t.thread is null
      or a.ordinal <> coalesce(a.ordinal_before, t.ordinal) + 1
      or a.prev <> coalesce(a.hash_before, t.hash)
      or a.digest <> sha256(convert_to(a.event, 'UTF8'))
      or a.event_key is distinct from ${s}.event_key(a.event_id)
      or a.hash <> ${s}.row_hash(a.prev, t.tenant_id, t.thread_id, a.ordinal, a.run_id, a.event_id,
        a.trace_id, a.span_id, a.digest)
    order by a.thread, a.ordinal limit 1;
  if found then
    raise exception 'audit log: row % of thread % does not follow the row before, or its hash is wrong',
      bad.ordinal, bad.thread using errcode = 'integrity_constraint_violation';
  end if;
  update ${s}.threads t set ordinal = l.ordinal, hash = l.hash
    from (select distinct on (thread) thread, ordinal, hash from added
        order by thread, ordinal desc) l
    where t.thread = l.thread;
  return null;
end
$$;
create trigger check_added after insert on ${s}.rows referencing new table as added
  for each statement execute function ${s}.check_added();

create function ${s}.check_changed() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
declare
  kept ${s}.rows := new;
begin
  kept.event := old.event;
  if kept is distinct from old or not ${s}.is_erased(new.event) then
    raise exception 'audit log: row % of thread % is never changed; only its payload can be erased',
      old.ordinal, old.thread using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end
$$;
create trigger check_changed before update on ${s}.rows
  for each row execute function ${s}.check_changed();
create trigger refuse_delete before delete on ${s}.rows
  for each row execute function ${s}.refuse();
create trigger refuse_truncate before truncate on ${s}.rows
  for each statement execute function ${s}.refuse();

create function ${s}.check_thread() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if new.ordinal = 0 and new.hash = decode(repeat('00', 32), 'hex') then return new; end if;
  elsif new.thread = old.thread and new.name = old.name and new.tenant_id = old.tenant_id
    and new.thread_id = old.thread_id and new.archived >= old.archived
    and new.ordinal >= old.ordinal and (
      (new.ordinal = old.ordinal and new.hash = old.hash) or exists (
        select from ${s}.rows r
          where r.thread = new.thread and r.ordinal = new.ordinal and r.hash = new.hash))
  then
    return new;
  end if;
  raise exception 'audit log: the head of thread % can only move to its last row', new.thread
    using errcode = 'integrity_constraint_violation';
end
$$;
create trigger check_thread before insert or update on ${s}.threads
  for each row execute function ${s}.check_thread();
create trigger refuse_delete before delete on ${s}.threads
  for each row execute function ${s}.refuse();
create trigger refuse_truncate before truncate on ${s}.threads
  for each statement execute function ${s}.refuse();

-- Appends a batch: one statement, one transaction, whatever there is of rows and threads. Entries are
-- numbered from 1 in the order of the calls, threads too. It answers with the place of every entry
-- (place > 0), and for every thread with the row that was its last one before (place < 0).
create function ${s}.append_rows(
  p_batch uuid, p_synchronous_commit text,
  p_names bytea[], p_tenants text[], p_threads text[],
  p_thread integer[], p_runs text[], p_events_ids text[], p_keys uuid[], p_traces text[],
  p_spans text[], p_digests bytea[], p_events text[]
) returns table (place integer, ordinal bigint, hash bytea) language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
  tenants text[] := p_tenants;
  names text[] := p_threads;
  ids bigint[] := array_fill(null::bigint, array[cardinality(p_names)]);
  head_ordinals bigint[] := array_fill(0::bigint, array[cardinality(p_names)]);
  head_hashes bytea[] := array_fill(decode(repeat('00', 32), 'hex'), array[cardinality(p_names)]);
  places integer[] := '{}';
  ordinals bigint[] := '{}';
  hashes bytea[] := '{}';
  entry_ordinals bigint[] := '{}';
  entry_hashes bytea[] := '{}';
  prevs bytea[] := '{}';
  one record;
  next_ordinal bigint;
  next_prev bytea;
  next_hash bytea;
begin
  perform set_config('synchronous_commit', p_synchronous_commit, true);
  perform set_config('lock_timeout', '30s', true);
  -- The same batch, sent again because its answer was lost, waits here for the first one's end.
  perform pg_advisory_xact_lock(hashtextextended(p_batch::text, 0));
  select b.places, b.ordinals, b.hashes into one from ${s}.batches b where b.batch = p_batch;
  if found then
    return query select u.place, u.ordinal, u.hash
      from unnest(one.places, one.ordinals, one.hashes) u (place, ordinal, hash);
    return;
  end if;

  -- Everywhere in the same order, here and below, so that two appends never wait for each other.
  insert into ${s}.threads (name, tenant_id, thread_id)
    select u.name, u.tenant_id, u.thread_id
    from unnest(p_names, p_tenants, p_threads) with ordinality u (name, tenant_id, thread_id, k)
    where u.k = any (p_thread) and not exists (select from ${s}.threads t where t.name = u.name)
    order by u.name
    on conflict (name) do nothing;
  for one in
    select u.k, t.thread, t.ordinal, t.hash
      from unnest(p_names) with ordinality u (name, k) join ${s}.threads t on t.name = u.name
      order by t.thread for update of t
  loop
    ids[one.k] := one.thread;
    head_ordinals[one.k] := one.ordinal;
    head_hashes[one.k] := one.hash;
  end loop;
  for k in 1 .. cardinality(p_names) loop
    places := places || -k;
  end loop;
  ordinals := head_ordinals;
  hashes := head_hashes;

  for one in
    select u.i, u.k, u.run_id, u.event_id, u.trace_id, u.span_id, u.digest,
        r.ordinal as known_ordinal, r.hash as known_hash,
        case when u.event_key is null then u.i
          else min(u.i) over (partition by u.k, u.event_key) end as first
      from unnest(p_thread, p_runs, p_events_ids, p_keys, p_traces, p_spans, p_digests)
        with ordinality u (k, run_id, event_id, event_key, trace_id, span_id, digest, i)
      left join ${s}.rows r on r.thread = ids[u.k] and r.event_key = u.event_key
      order by u.i
  loop
    next_prev := null;
    if one.known_ordinal is not null then
      next_ordinal := one.known_ordinal;
      next_hash := one.known_hash;
    elsif one.first < one.i then
      next_ordinal := entry_ordinals[one.first];
      next_hash := entry_hashes[one.first];
    else
      next_ordinal := head_ordinals[one.k] + 1;
      next_prev := head_hashes[one.k];
      next_hash := ${s}.row_hash(next_prev, tenants[one.k], names[one.k], next_ordinal,
        one.run_id, one.event_id, one.trace_id, one.span_id, one.digest);
      head_ordinals[one.k] := next_ordinal;
      head_hashes[one.k] := next_hash;
    end if;
    entry_ordinals := entry_ordinals || next_ordinal;
    entry_hashes := entry_hashes || next_hash;
    prevs := prevs || next_prev;
    places := places || one.i::integer;
  end loop;
  ordinals := ordinals || entry_ordinals;
  hashes := hashes || entry_hashes;

  insert into ${s}.rows (thread, ordinal, prev, hash, run_id, event_id, event_key, trace_id,
      span_id, digest, event)
    select ids[u.k], u.ordinal, u.prev, u.hash, u.run_id, u.event_id, u.event_key, u.trace_id,
        u.span_id, u.digest, u.event
    from unnest(p_thread, entry_ordinals, prevs, entry_hashes, p_runs, p_events_ids, p_keys,
      p_traces, p_spans, p_digests, p_events)
      u (k, ordinal, prev, hash, run_id, event_id, event_key, trace_id, span_id, digest, event)
    where u.prev is not null;
  -- Without entries it is a probe, which has to show that something can be written.
  if array_position(p_keys, null) is not null or cardinality(p_thread) = 0 then
    delete from ${s}.batches where batch in (
      select b.batch from ${s}.batches b where b.at < clock_timestamp() - interval '5 minutes'
        limit 100 for update skip locked);
    insert into ${s}.batches (batch, places, ordinals, hashes)
      values (p_batch, places, ordinals, hashes);
  end if;
  return query select u.place, u.ordinal, u.hash
    from unnest(places, ordinals, hashes) u (place, ordinal, hash);
end
$$;

-- Archives rows up to a watermark and tells how many.
create function ${s}.archive_rows(p_name bytea, p_watermark bigint, p_synchronous_commit text)
  returns bigint language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  before ${s}.threads;
  now_archived bigint;
begin
  perform set_config('synchronous_commit', p_synchronous_commit, true);
  perform set_config('lock_timeout', '30s', true);
  select * into before from ${s}.threads where name = p_name for update;
  if not found then return 0; end if;
  now_archived := least(p_watermark, before.ordinal);
  if now_archived <= before.archived then return 0; end if;
  update ${s}.threads set archived = now_archived where thread = before.thread;
  return now_archived - before.archived;
end
$$;

-- Puts what is left of erased events in their place and tells how many were. An event is passed over
-- when it says no more than is left, and not for how it reads: one may come with what erased ones have.
create function ${s}.erase_events(p_thread bigint, p_ordinals bigint[], p_events text[])
  returns bigint language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  erased bigint;
begin
  perform set_config('lock_timeout', '30s', true);
  update ${s}.rows r set event = u.event
    from unnest(p_ordinals, p_events) u (ordinal, event)
    where r.thread = p_thread and r.ordinal = u.ordinal and r.event is distinct from u.event;
  get diagnostics erased = row_count;
  return erased;
end
$$;

revoke all on all functions in schema ${s} from public;
-- With these anybody who may read can check rows.
grant execute on function
  ${s}.row_hash(bytea, text, text, bigint, text, text, text, text, bytea), ${s}.event_key(text),
  ${s}.is_erased(text) to public;

-- For people: ids and hashes as texts. Ids are as JSON writes them.
create view ${s}.audit as
  select t.tenant_id, t.thread_id, r.ordinal, r.ordinal <= t.archived as archived,
      encode(r.prev, 'hex') as prev, encode(r.hash, 'hex') as hash, r.run_id, r.event_id,
      r.trace_id, r.span_id, encode(r.digest, 'hex') as digest, r.event
    from ${s}.rows r join ${s}.threads t using (thread);
`;
}
