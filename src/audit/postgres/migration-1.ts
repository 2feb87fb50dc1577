/**
 * Version 1 of the schema, without the functions that version 2 replaces.
 *
 * IDs and events are stored as in a JSON string, without the quotes. PostgreSQL's text can hold neither U+0000 nor an
 * unpaired surrogate, and most IDs look the same in this form. So the database can compute a row's hash, and plain
 * SQL can check it.
 *
 * The database itself enforces the chain, for every writer. It refuses a row that does not continue its thread, and
 * every change except erasing a payload.
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
