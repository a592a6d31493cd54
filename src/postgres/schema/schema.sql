-- Locks of leasehold in a PostgreSQL database, version 1. PostgreSQL 12 or later.
--
-- Installation: psql -f, as the user that shall own the tables. It may be repeated, also over an
-- older version and while clients are connected.
--
--     grant usage on schema leasehold to APPLICATION;
--
-- is the only right that an application needs. The functions run with the rights of their owner.
-- So an application can neither read the owners of other clients nor write the tables.
--
-- All names are qualified, and the functions fix their search_path, because they run with the
-- rights of another user. A generator that installs into another schema replaces the quoted
-- identifier "leasehold". Two installations in one database do not know each other.
--
-- Durability: with `set leasehold.tables = 'unlogged'` before this text, a crash of the server
-- loses all locks, and a standby has none. Without the write-ahead log, an acquire needs no disk.
--
-- Rules of all functions:
--   * Only the server's clock counts, and it is read after the row was locked. now() is the start
--     of the transaction, which may have waited for the row since then.
--   * A call locks one row of "lock" at most, then the waiters of that row; renew locks its rows in
--     the order of keys. So calls cannot deadlock.
--   * The caller's transaction is READ COMMITTED.
begin;
set local client_min_messages = warning;
do $$ begin perform pg_catalog.pg_advisory_xact_lock(27752, 0); end $$; -- one at a time

create schema if not exists "leasehold";

-- Functions of another version may have other parameters. The same version is replaced in place, so
-- that no client fails. The number is that of version().
do $$
declare
    installed integer;
    old record;
begin
    if pg_catalog.to_regprocedure('"leasehold".version()') is not null then
        execute 'select "leasehold".version()' into installed;
    end if;
    if installed is distinct from 1 then
        for old in
            select p.oid::pg_catalog.regprocedure as signature from pg_catalog.pg_proc as p
            where p.pronamespace = '"leasehold"'::pg_catalog.regnamespace
        loop
            execute pg_catalog.format('drop function %s', old.signature);
        end loop;
    end if;
end $$;

-- A row for each name that was locked within the retention of fences.
create table if not exists "leasehold".lock (
    fence bigint not null,      -- the last fence that was granted for the name
    expires bigint not null,    -- the end of the last lease, in us since 1970
    block integer not null,     -- the number of fences in the last grant
    waited boolean not null,    -- there may be rows in waiter
    assigned boolean not null,  -- granted from the queue, not yet confirmed by an acquire
    key bytea primary key,      -- see key()
    owner bytea,                -- null: released
    entries bytea[]             -- ids of reentrant acquisitions, with '' for the first; null: only
                                -- the first
) with (fillfactor = 50);

-- The queues. Rows of one key change only under the lock of its row in "lock".
create table if not exists "leasehold".waiter (
    n bigint not null,          -- the order
    until bigint not null,      -- the end of its presence, in us since 1970
    claim bigint not null,      -- the time for which a grant is reserved, in ms
    listener integer not null,  -- the process id of the client's listening connection; 0: none
    key bytea not null,
    owner bytea not null,
    primary key (key, n),
    unique (key, owner)
) with (fillfactor = 50);

-- Descriptions of clients.
create table if not exists "leasehold".client (
    seen bigint not null,       -- in us since 1970
    id bytea primary key,
    info text not null
) with (fillfactor = 50);

do $$
declare
    wanted text := coalesce(nullif(pg_catalog.current_setting('leasehold.tables', true), ''),
                            'logged');
    found record;
begin
    if wanted not in ('logged', 'unlogged') then
        raise exception 'leasehold.tables is "%", and must be logged or unlogged', wanted;
    end if;
    for found in
        select c.oid::pg_catalog.regclass as name from pg_catalog.pg_class as c
        where c.relnamespace = '"leasehold"'::pg_catalog.regnamespace and c.relkind = 'r'
            and c.relpersistence <> case wanted when 'logged' then 'p' else 'u' end
    loop
        execute pg_catalog.format('alter table %s set %s', found.name, wanted);
    end loop;
end $$;

create or replace function "leasehold".version() returns integer language sql immutable
as $$ select 1 $$;

-- The clock in us. As a double it is exact to a quarter of a microsecond; numeric is slower.
create or replace function "leasehold".clock() returns bigint language sql volatile
as $$ select (date_part('epoch', clock_timestamp()) * 1000000)::bigint $$;

-- The key of a name. An index entry is limited, so a name of more than 255 bytes is kept by its
-- beginning and its hash, which together are longer than any other key.
create or replace function "leasehold".key(name bytea) returns bytea language sql immutable
as $$
    select case when octet_length(name) <= 255 then name
                else substring(name from 1 for 224) || sha256(name) end
$$;

-- The client of an owner: the bytes before the first colon.
create or replace function "leasehold".client_of(owner bytea) returns bytea language sql immutable
as $$
    select case position('\x3a'::bytea in owner) when 0 then owner
                else substring(owner from 1 for position('\x3a'::bytea in owner) - 1) end
$$;

-- The channel of a client's notifications. A client's id may have any bytes and any length.
create or replace function "leasehold".channel(client bytea) returns text language sql immutable
as $$ select 'leasehold_' || left(encode(sha256(client), 'hex'), 32) $$;

-- Called on a connection for notifications only. It subscribes to the grants of the client, and
-- shows that the client is connected by a session lock on the process id, until the connection
-- ends. The lock of an earlier connection, whose end the server has not noticed yet, is another.
create or replace function "leasehold".attend(client bytea, out channel text, out listener integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
    channel := "leasehold".channel(attend.client);
    listener := pg_backend_pid();
    perform pg_advisory_lock(27752, attend.listener);
    execute format('listen %I', attend.channel);
end $$;

-- Whether a listening connection still exists. The lock is shared, so that two calls at a time do
-- not take each other for the connection, and ends at once, so that a call for many waiters holds
-- few locks. A session can always lock what it has locked.
create or replace function "leasehold".attends(listener integer) returns boolean language sql
as $$
    select case when listener = pg_backend_pid() then true
                when pg_try_advisory_lock_shared(27752, listener)
                then not pg_advisory_unlock_shared(27752, listener)
                else true end
$$;

-- Grants a free lock, whose row is locked, to the first present waiter and notifies it. Removes the
-- absent waiters before it. Does nothing if the first is `but`. Returns whether it was granted.
create or replace function "leasehold".grant_next(name bytea, but bytea, clock bigint)
returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
    k constant bytea := "leasehold".key(grant_next.name);
    next "leasehold".waiter;
begin
    for next in select * from "leasehold".waiter as w where w.key = k order by w.n loop
        exit when next.until >= grant_next.clock
            and (next.listener = 0 or "leasehold".attends(next.listener));
        delete from "leasehold".waiter as w where w.key = k and w.n = next.n;
        next := null;
    end loop;
    if next.owner is null or next.owner = grant_next.but then
        return false;
    end if;
    delete from "leasehold".waiter as w where w.key = k and w.n = next.n;
    update "leasehold".lock as l
    set owner = next.owner, expires = grant_next.clock + next.claim * 1000, assigned = true,
        entries = null, waited = exists (select from "leasehold".waiter as w where w.key = k)
    where l.key = k;
    -- base64, because a payload is text of less than 8000 bytes, and a name has 4096 at most.
    perform pg_notify("leasehold".channel("leasehold".client_of(next.owner)),
                      translate(encode(next.owner, 'base64') || ' ' ||
                                encode(grant_next.name, 'base64'), E'\n', ''));
    return true;
end $$;

-- Acquires a lock, finds the effect of an earlier request, confirms a grant, or joins the queue. A
-- waiter polls, and extends its presence, by the same request, sent again under the same owner.
--
-- name, owner      not empty; an owner begins with the id of its client and a colon
-- entry            '': acquires the lock. Else the id of this reentrant acquisition
-- lease            ms
-- wanted           the number of fences to reserve
-- fence_floor      the granted fences are larger than this
-- deadline         the latest clock at which this may take effect; 0: any
-- presence, claim  ms; presence 0: does not wait
-- listener         as attend returned it; 0: the client has no listening connection
-- needs_holder     whether to return the holder
--
-- result     1 granted, 0 held, -1 late: nothing was changed,
--            -2 reentrant, and the owner does not hold the lock
-- fence      granted: the last fence of the block; 0 if reentrant
-- fences     granted: their number
-- remaining  held: the rest of the lease in ms, rounded up
-- place      held: the number of owners before it in the queue, at most 100; -1: not in the queue
-- holder     held: the client of the holder, if requested
-- clock      the clock
create or replace function "leasehold".acquire(
    name bytea, owner bytea, entry bytea, lease bigint, wanted integer, fence_floor bigint,
    deadline bigint, presence bigint, claim bigint, listener integer, needs_holder boolean,
    out result smallint, out fence bigint, out fences integer, out remaining bigint,
    out place integer, out holder bytea, out clock bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
    k constant bytea := "leasehold".key(acquire.name);
    r "leasehold".lock;
    taken boolean := false;
    missing boolean := false;
    mine bigint;
begin
    clock := "leasehold".clock();
    if acquire.deadline <> 0 and acquire.clock > acquire.deadline then
        result := -1;
        return;
    end if;

    -- The fast path: a free lock without waiters. A block of fences never ends after the clock,
    -- which counts two fences each microsecond as in the other stores, so that fences rise even if
    -- the row was lost.
    if acquire.entry = '' then
        update "leasehold".lock as l
        set owner = acquire.owner, expires = acquire.clock + acquire.lease * 1000,
            assigned = false, entries = null,
            fence = greatest(l.fence + 1, acquire.fence_floor + 1, 2 * acquire.clock),
            block = greatest(1, least(acquire.wanted, 10000, 2 * acquire.clock -
                                      greatest(l.fence, acquire.fence_floor)))
        where l.key = k and not l.waited and (l.owner is null or l.expires <= acquire.clock)
        returning l.fence, l.block into acquire.fence, acquire.fences;
        taken := found;
    end if;

    -- A request for a held lock locks no row and writes nothing. On a standby, which may be behind,
    -- the update has failed before.
    if not taken and acquire.entry = '' and acquire.presence = 0 then
        select * into r from "leasehold".lock as l where l.key = k;
        missing := not found;
        if r.owner <> acquire.owner and r.expires > acquire.clock then
            result := 0;
            remaining := (r.expires - acquire.clock + 999) / 1000;
            place := -1;
            if acquire.needs_holder then
                holder := "leasehold".client_of(r.owner);
            end if;
            return;
        end if;
    end if;

    while not taken loop
        if missing then
            -- Waiters without this row: it was deleted by hand.
            insert into "leasehold".lock as l
                (fence, expires, block, waited, assigned, key, owner)
            select greatest(acquire.fence_floor + 1, 2 * acquire.clock),
                   acquire.clock + acquire.lease * 1000, 1, q.waited, false, k,
                   case when not q.waited then acquire.owner end
            from (select exists (select from "leasehold".waiter as w where w.key = k) as waited)
                as q
            on conflict do nothing
            returning not l.waited, l.fence, 1 into taken, acquire.fence, acquire.fences;
            exit when taken;
            taken := false; -- it is null after a conflict
        end if;
        select * into r from "leasehold".lock as l where l.key = k for update;
        exit when found;
        missing := true;
        if acquire.entry <> '' then
            result := -2;
            return;
        end if;
    end loop;

    clock := "leasehold".clock(); -- the row is locked from here on
    if acquire.deadline <> 0 and acquire.clock > acquire.deadline then
        if taken then
            update "leasehold".lock as l set owner = null where l.key = k;
        end if;
        result := -1;
        fence := null;
        fences := null;
        return;
    end if;
    if taken then
        result := 1;
        return;
    end if;
    if r.expires <= acquire.clock then
        r.owner := null;
    end if;

    if acquire.entry <> '' then
        if r.owner is distinct from acquire.owner then
            result := -2;
            return;
        end if;
        update "leasehold".lock as l
        set expires = greatest(l.expires, acquire.clock + acquire.lease * 1000),
            entries = case when acquire.entry = any (l.entries) then l.entries
                           else coalesce(l.entries, array[''::bytea]) || acquire.entry end
        where l.key = k;
        result := 1;
        fence := 0;
        fences := 0;
        return;
    end if;

    if r.owner is null and r.waited
        and "leasehold".grant_next(acquire.name, acquire.owner, acquire.clock) then
        select * into r from "leasehold".lock as l where l.key = k;
    end if;

    if r.owner is null or r.owner = acquire.owner then
        if r.waited then
            delete from "leasehold".waiter as w where w.key = k and w.owner = acquire.owner;
            r.waited := exists (select from "leasehold".waiter as w where w.key = k);
        end if;
        if r.owner is not null and not r.assigned and r.fence > acquire.fence_floor then
            -- An earlier request, whose reply may be lost, reserved fences for this owner. So no
            -- other owner can have the last of them.
            update "leasehold".lock as l
            set expires = greatest(l.expires, acquire.clock + acquire.lease * 1000),
                waited = r.waited
            where l.key = k;
            fence := r.fence;
            fences := 1;
        else
            update "leasehold".lock as l
            set owner = acquire.owner, waited = r.waited, assigned = false,
                expires = greatest(case when r.owner is not null then l.expires end,
                                   acquire.clock + acquire.lease * 1000),
                entries = case when r.owner is not null then l.entries end,
                fence = greatest(l.fence + 1, acquire.fence_floor + 1, 2 * acquire.clock),
                block = greatest(1, least(acquire.wanted, 10000, 2 * acquire.clock -
                                          greatest(l.fence, acquire.fence_floor)))
            where l.key = k
            returning l.fence, l.block into acquire.fence, acquire.fences;
        end if;
        result := 1;
        return;
    end if;

    result := 0;
    remaining := (r.expires - acquire.clock + 999) / 1000;
    place := -1;
    if acquire.needs_holder then
        holder := "leasehold".client_of(r.owner);
    end if;
    if acquire.presence = 0 then
        return;
    end if;
    update "leasehold".waiter as w
    set until = acquire.clock + acquire.presence * 1000,
        claim = least(acquire.lease, acquire.claim), listener = acquire.listener
    where w.key = k and w.owner = acquire.owner
    returning w.n into mine;
    if not found then
        insert into "leasehold".waiter as w (n, until, claim, listener, key, owner)
        select coalesce(max(o.n), 0) + 1, acquire.clock + acquire.presence * 1000,
               least(acquire.lease, acquire.claim), acquire.listener, k, acquire.owner
        from "leasehold".waiter as o where o.key = k
        returning w.n into mine;
    end if;
    if not r.waited then
        update "leasehold".lock as l set waited = true where l.key = k;
    end if;
    select count(*) into acquire.place
    from (select from "leasehold".waiter as w where w.key = k and w.n < mine limit 100) as earlier;
end $$;

-- Releases a lock or a reentrant acquisition, or removes the owner from the queue. A released lock
-- is granted to the first present waiter. In the same step the client may acquire it, or join the
-- queue, under its next owner.
--
-- next_owner  '' or null: none. The other parameters of next as in acquire
--
-- result       1 freed, 2 still held by other entries of the owner, 3 the owner did not hold the
--              lock and was removed from the queue, 4 granted to the first waiter,
--              0 the owner, or this entry, does not hold the lock: nothing was changed
-- next_result  1 granted, 0 held; null: none, late, or nothing was released
-- next_...     as in acquire
create or replace function "leasehold".release(
    name bytea, owner bytea, entry bytea, next_owner bytea, next_lease bigint, next_wanted integer,
    next_fence_floor bigint, next_deadline bigint, next_presence bigint, next_claim bigint,
    next_listener integer,
    out result smallint, out next_result smallint, out next_fence bigint, out next_fences integer,
    out next_remaining bigint, out next_place integer, out clock bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
    k constant bytea := "leasehold".key(release.name);
    r "leasehold".lock;
    rest bytea[];
begin
    clock := "leasehold".clock();
    if release.entry = '' and coalesce(release.next_owner, '') = '' then
        update "leasehold".lock as l set owner = null
        where l.key = k and l.owner = release.owner and l.expires > release.clock and not l.waited
            and l.entries is null;
        if found then
            result := 1;
            return;
        end if;
    end if;

    select * into r from "leasehold".lock as l where l.key = k for update;
    clock := "leasehold".clock();
    if r.expires <= release.clock then
        r.owner := null;
    end if;
    result := 0;
    if r.owner is distinct from release.owner then
        if release.entry = '' then
            delete from "leasehold".waiter as w where w.key = k and w.owner = release.owner;
            if found then
                result := 3;
                if r.key is not null and r.owner is null then
                    perform "leasehold".grant_next(release.name, null, release.clock);
                end if;
            end if;
        end if;
        return;
    end if;
    r.entries := coalesce(r.entries, array[''::bytea]);
    if not release.entry = any (r.entries) then
        return;
    end if;
    rest := array_remove(r.entries, release.entry);
    if cardinality(rest) > 0 then
        update "leasehold".lock as l set entries = rest where l.key = k;
        result := 2;
    elsif r.waited and "leasehold".grant_next(release.name, null, release.clock) then
        result := 4;
    else
        update "leasehold".lock as l set owner = null, entries = null, waited = false
        where l.key = k;
        result := 1;
    end if;
    if release.next_owner <> '' then
        select a.result, a.fence, a.fences, a.remaining, a.place
        into next_result, next_fence, next_fences, next_remaining, next_place
        from "leasehold".acquire(
            release.name, release.next_owner, '', release.next_lease, release.next_wanted,
            release.next_fence_floor, release.next_deadline, release.next_presence,
            release.next_claim, release.next_listener, false) as a
        where a.result >= 0;
    end if;
end $$;

-- Renews locks: extends each lease to the given time from now, and never shortens it. Returns a
-- row for each renewal, in their order: false if the owner, or this entry, does not hold the lock.
create or replace function "leasehold".renew(
    names bytea[], owners bytea[], entries bytea[], leases bigint[])
returns table (renewed boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
    results boolean[] := array_fill(false, array[cardinality(renew.names)]);
    clock bigint;
    each record;
begin
    for each in
        select "leasehold".key(w.name) as key, w.owner, w.entry, w.lease * 1000 as lease, w.i
        from unnest(renew.names, renew.owners, renew.entries, renew.leases) with ordinality
            as w (name, owner, entry, lease, i)
        order by 1
    loop
        clock := "leasehold".clock();
        update "leasehold".lock as l set expires = greatest(l.expires, clock + each.lease)
        where l.key = each.key and l.owner = each.owner and l.expires > clock
            and (l.entries is null and each.entry = '' or each.entry = any (l.entries));
        results[each.i] := found;
    end loop;
    return query select u.renewed from unnest(results) with ordinality as u (renewed, i)
                 order by u.i;
end $$;

-- Deletes the rows that were not used for the retention (ms), so that a fence of a name is kept for
-- that time. Checks `most` rows after the key `after`, and skips rows in use. Returns the key to
-- continue with, and '' at the end.
create or replace function "leasehold".sweep(after bytea, retention bigint, most integer)
returns bytea language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
    oldest constant bigint := "leasehold".clock() - sweep.retention * 1000;
    last bytea;
begin
    if sweep.retention < 1000 then
        raise exception 'the retention is % ms, and must be 1000 or larger', sweep.retention;
    end if;
    if sweep.after = '' then
        delete from "leasehold".client as c where c.seen < oldest;
    end if;
    select checked.key into last
    from (select l.key from "leasehold".lock as l where l.key > sweep.after
          order by l.key limit sweep.most) as checked
    order by checked.key desc limit 1;
    -- The end of the last lease is after its grant. A fence above the clock is kept: without the
    -- row, the next fence would be smaller.
    with unused as (
        select u.key from "leasehold".lock as u
        where u.key > sweep.after and u.key <= last and u.expires < oldest
            and u.fence < 2 * "leasehold".clock()
            and not exists (select from "leasehold".waiter as w
                            where w.key = u.key and w.until >= oldest)
        for update skip locked
    ), deleted as (
        delete from "leasehold".lock as l using unused as u where l.key = u.key returning l.key
    )
    delete from "leasehold".waiter as w using deleted as d where w.key = d.key;
    return coalesce(last, '');
end $$;

-- Keeps the description of a client for its retention.
create or replace function "leasehold".introduce(client bytea, info text)
returns void language sql security definer set search_path = pg_catalog, pg_temp
as $$
    insert into "leasehold".client (seen, id, info)
    values ("leasehold".clock(), introduce.client, introduce.info)
    on conflict (id) do update set seen = excluded.seen, info = excluded.info
$$;

-- The description of the client whose id begins with these bytes; null: there is none.
create or replace function "leasehold".describe(prefix bytea)
returns text language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
    select c.info from "leasehold".client as c
    where c.id >= describe.prefix
        and substring(c.id from 1 for octet_length(describe.prefix)) = describe.prefix
    order by c.id limit 1
$$;

-- The held locks, for operators: all, or that of a name. A name of more than 255 bytes is shown by
-- its beginning and its hash.
--
-- owner      in full: it can acquire the lock reentrantly, and release it
-- remaining  the rest of the lease in ms
-- holds      the number of acquisitions of the owner
-- waiters    the number of owners in the queue
-- info       the description of the holder's client; null: unknown
create or replace function "leasehold".held(wanted bytea)
returns table (name bytea, owner bytea, remaining bigint, fence bigint, holds bigint,
               waiters bigint, info text)
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
    select l.key, l.owner, (l.expires - t.clock + 999) / 1000, l.fence,
           coalesce(cardinality(l.entries), 1)::bigint,
           (select count(*) from "leasehold".waiter as w where w.key = l.key),
           (select c.info from "leasehold".client as c
            where c.id = "leasehold".client_of(l.owner))
    from "leasehold".lock as l cross join (select "leasehold".clock() as clock) as t
    where (held.wanted is null or l.key = "leasehold".key(held.wanted))
        and l.owner is not null and l.expires > t.clock
    order by l.key
$$;

-- The queue of a name, for operators, the first waiter first.
create or replace function "leasehold".queue(name bytea)
returns table (owner bytea, present boolean, info text)
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
    select w.owner,
           w.until >= "leasehold".clock()
               and (w.listener = 0 or "leasehold".attends(w.listener)),
           (select c.info from "leasehold".client as c
            where c.id = "leasehold".client_of(w.owner))
    from "leasehold".waiter as w
    where w.key = "leasehold".key(queue.name)
    order by w.n
$$;

-- Removes the lock of one owner, with all its reentrant acquisitions, for operators. Returns 1
-- freed, 4 granted to the first waiter, 0 the owner does not hold the lock: nothing was changed.
create or replace function "leasehold".remove(name bytea, owner bytea)
returns smallint language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
    update "leasehold".lock as l set entries = null
    where l.key = "leasehold".key(remove.name) and l.owner = remove.owner
        and l.expires > "leasehold".clock();
    if not found then
        return 0;
    end if;
    return (select r.result
            from "leasehold".release(remove.name, remove.owner, '', '', 0, 0, 0, 0, 0, 0, 0) as r);
end $$;

-- The right to use the schema is the right to use the locks. The functions for operators show the
-- owners, so they need further rights, for example:
--
--     grant execute on all functions in schema leasehold to OPERATOR;
grant execute on all functions in schema "leasehold" to public;
revoke execute on function "leasehold".grant_next(bytea, bytea, bigint),
    "leasehold".held(bytea), "leasehold".queue(bytea), "leasehold".remove(bytea, bytea)
    from public;
commit;
