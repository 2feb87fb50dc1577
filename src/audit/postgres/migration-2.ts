/**
 * Version 2 of the schema: a locked thread holds back only its own rows.
 *
 * Both functions keep their parameters, so that granted rights stay valid. The time to wait for a lock, in ms,
 * follows `synchronous_commit`: `on 250`. Writers of version 1 may still run and send no time. They wait 30 s for
 * every thread, as before.
 *
 * @param s the schema, quoted.
 */
export function migration2(s: string): string {
  const waitMs = "wait_ms integer := nullif(split_part(p_synchronous_commit, ' ', 2), '')::integer";
  // A lock on a table is waited for even if threads are not.
  const beginWrite = `perform set_config('synchronous_commit', split_part(p_synchronous_commit, ' ', 1), true);
  perform set_config('lock_timeout',
    case when wait_ms is null then '30s' when wait_ms = 0 then '50ms' else wait_ms || 'ms' end, true);`;
  return `
-- Appends a batch: one statement, one transaction, whatever there is of rows and threads. Entries are
-- numbered from 1 in the order of the calls, threads too. It answers with the place of every entry
-- (place > 0), and for every thread with the row that was its last one before (place < 0). Threads that
-- another transaction has locked are left out, and so is the answer to them and to their entries; only
-- where all are locked, and there is time to wait, one of them is waited for: the first one.
create or replace function ${s}.append_rows(
  p_batch uuid, p_synchronous_commit text,
  p_names bytea[], p_tenants text[], p_threads text[],
  p_thread integer[], p_runs text[], p_events_ids text[], p_keys uuid[], p_traces text[],
  p_spans text[], p_digests bytea[], p_events text[]
) returns table (place integer, ordinal bigint, hash bytea) language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
  ${waitMs};
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
  locked integer := 0;
  next_ordinal bigint;
  next_prev bytea;
  next_hash bytea;
begin
  ${beginWrite}
  -- The same batch, sent again because its answer was lost, waits here for the first one's end.
  perform pg_advisory_xact_lock(hashtextextended(p_batch::text, 0));
  select b.places, b.ordinals, b.hashes into one from ${s}.batches b where b.batch = p_batch;
  if found then
    return query select u.place, u.ordinal, u.hash
      from unnest(one.places, one.ordinals, one.hashes) u (place, ordinal, hash)
      where u.ordinal is not null;
    return;
  end if;

  -- Everywhere in the same order, here and below, so that two appends never wait for each other.
  insert into ${s}.threads (name, tenant_id, thread_id)
    select u.name, u.tenant_id, u.thread_id
    from unnest(p_names, p_tenants, p_threads) with ordinality u (name, tenant_id, thread_id, k)
    where u.k = any (p_thread) and not exists (select from ${s}.threads t where t.name = u.name)
    order by u.name
    on conflict (name) do nothing;
  if wait_ms is null then
    perform from ${s}.threads t where t.name = any (p_names) order by t.thread for update;
  end if;
  loop
    for one in
      select u.k, t.thread, t.ordinal, t.hash
        from unnest(p_names) with ordinality u (name, k) join ${s}.threads t on t.name = u.name
        order by t.thread for update of t skip locked
    loop
      locked := locked + 1;
      ids[one.k] := one.thread;
      head_ordinals[one.k] := one.ordinal;
      head_hashes[one.k] := one.hash;
    end loop;
    exit when locked > 0 or cardinality(p_thread) = 0;
    if wait_ms > 0 then
      wait_ms := 0;
      -- No lock is held here, so that no other append waits for this one meanwhile.
      begin
        perform from ${s}.threads t where t.name = any (p_names)
          order by array_position(p_names, t.name) limit 1 for update;
        continue;
      exception when lock_not_available then null;
      end;
    end if;
    return;
  end loop;
  for k in 1 .. cardinality(p_names) loop
    places := places || -k;
    continue when ids[k] is not null;
    if k = any (p_thread) then
      head_ordinals[k] := null;
    else
      -- Nothing is added to it: its head can be read without its lock.
      select t.ordinal, t.hash into one from ${s}.threads t where t.name = p_names[k];
      if found then
        head_ordinals[k] := one.ordinal;
        head_hashes[k] := one.hash;
      end if;
    end if;
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
    if ids[one.k] is null then
      next_ordinal := null;
      next_hash := null;
    elsif one.known_ordinal is not null then
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
    from unnest(places, ordinals, hashes) u (place, ordinal, hash)
    where u.ordinal is not null;
end
$$;

-- Archives rows up to a watermark and tells how many.
create or replace function ${s}.archive_rows(p_name bytea, p_watermark bigint, p_synchronous_commit text)
  returns bigint language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  before ${s}.threads;
  now_archived bigint;
  ${waitMs};
begin
  ${beginWrite}
  select * into before from ${s}.threads where name = p_name for update;
  if not found then return 0; end if;
  now_archived := least(p_watermark, before.ordinal);
  if now_archived <= before.archived then return 0; end if;
  update ${s}.threads set archived = now_archived where thread = before.thread;
  return now_archived - before.archived;
end
$$;

revoke all on function ${s}.append_rows, ${s}.archive_rows from public;
`;
}
