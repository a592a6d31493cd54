-- Locks of leasehold in a MySQL or MariaDB database, version 1. MySQL 8.0.1 or later, MariaDB 10.6
-- or later.
--
-- Installation: `mysql DATABASE` executes it, as the user that shall own the procedures. It may be
-- repeated, also over an older version. Requests that come meanwhile may fail.
--
--     grant execute on DATABASE.* to APPLICATION;
--
-- is the only right that an application needs. The procedures run with the rights of their owner.
--
-- Rules of all procedures:
--   * Only the server's clock counts, and it is read after the row was locked. sysdate() is the
--     time of its call, and now() may be earlier. The session's time zone is '+00:00', because the
--     local time is not continuous.
--   * A call locks one row of leasehold_lock at most, then the waiters of that row. A transaction
--     makes its calls in the order of names. So transactions cannot deadlock.
--   * The session has the isolation level READ COMMITTED, so each statement reads what was
--     committed before it.
--   * There are no functions: with a binary log, only an administrator may create them.
set @leasehold_sql_mode = @@session.sql_mode;
set session sql_mode = 'STRICT_ALL_TABLES';
set @leasehold_notes = @@session.sql_notes;
set session sql_notes = 0;

-- A row for each name that was locked within the retention of fences. An index entry is limited, so
-- a name of more than 512 bytes is kept by its beginning and its hash, which together are longer
-- than any other key.
create table if not exists leasehold_lock (
    name varbinary(513) not null primary key,
    owner varbinary(512) null,          -- null: released
    fence bigint not null,              -- the last fence that was granted for the name; each grant
                                        -- from the queue skips one, which makes its id unique
    expires bigint not null,            -- the end of the last lease, in us since 1970
    block int not null,                 -- the number of fences in the last grant
    waited tinyint not null,            -- there may be rows in leasehold_waiter
    assigned bigint unsigned null,      -- granted from the queue, not yet confirmed by an acquire:
                                        -- the listener of the waiter
    entries mediumblob null,            -- ids of reentrant acquisitions in hex, as ',ID,ID,', with
                                        -- an empty one for the first; null: only the first
    long_name varbinary(4096) null,     -- a name of more than 512 bytes
    key (assigned)
) engine = InnoDB;

-- The queues. Rows of one name change only under the lock of its row in leasehold_lock.
create table if not exists leasehold_waiter (
    name varbinary(513) not null,
    n bigint not null,                  -- the order
    owner varbinary(512) not null,
    present_until bigint not null,      -- in us since 1970
    claim bigint not null,              -- the time for which a grant is reserved, in ms
    listener bigint unsigned not null,  -- as leasehold_listen returned it; 0: none
    primary key (name, n),
    unique key (name, owner)
) engine = InnoDB;

-- Descriptions of clients.
create table if not exists leasehold_client (
    id varbinary(512) not null primary key,
    seen bigint not null,               -- in us since 1970
    info varbinary(4096) not null
) engine = InnoDB;

drop procedure if exists leasehold_version;
drop procedure if exists leasehold_listen;
drop procedure if exists leasehold_attend;
drop procedure if exists leasehold_kill;
drop procedure if exists leasehold_ring;
drop procedure if exists leasehold_grant_next;
drop procedure if exists leasehold_acquire;
drop procedure if exists leasehold_release;
drop procedure if exists leasehold_renew;
drop procedure if exists leasehold_sweep;
drop procedure if exists leasehold_introduce;
drop procedure if exists leasehold_describe;
drop procedure if exists leasehold_held;
drop procedure if exists leasehold_queue;
drop procedure if exists leasehold_remove;

delimiter $$

create procedure leasehold_version()
begin
    select 1 as version;
end$$

-- Called once on a connection for grants only. The connection shows that its client exists by a
-- user-level lock, until it ends.
--
-- listener  the id of the connection
-- reliable  1: every client can wake this connection; 0: only one of the same user
create procedure leasehold_listen()
begin
    declare own, caller varchar(512);
    do get_lock(concat('leasehold:', connection_id()), 0);
    set own = left(current_user(), char_length(current_user()) -
                                   char_length(substring_index(current_user(), '@', -1)) - 1);
    set caller = left(user(), char_length(user()) -
                              char_length(substring_index(user(), '@', -1)) - 1);
    select connection_id() as listener,
           own = caller or exists (
               select 1 from information_schema.user_privileges
               where privilege_type in ('CONNECTION ADMIN', 'CONNECTION_ADMIN')
                   and grantee = concat('''', own, '''@''',
                                        substring_index(current_user(), '@', -1), ''''))
               as reliable;
end$$

-- The grants of this connection that are not confirmed yet. Waits if all are known: at most for
-- `seconds`, or until leasehold_ring interrupts it with error 1317. A ring between the check and
-- the wait has no effect, so a wait that follows a ring should be short.
--
-- p_known  the ids of grants that were returned before, as ',ID,ID,'
--
-- id       differs from that of an earlier grant to the same owner
create procedure leasehold_attend(p_known longblob, p_seconds double)
begin
    -- `if exists (select ...)` would lock the rows. A statement `select` only reads them.
    declare has_new tinyint default 0;
    select 1 into has_new from leasehold_lock
    where assigned = connection_id() and owner is not null
        and locate(concat(',', hex(owner), '-', fence, ','), p_known) = 0
    limit 1;
    if not has_new then
        do sleep(p_seconds);
    end if;
    select coalesce(long_name, name) as name, owner, concat(hex(owner), '-', fence) as id
    from leasehold_lock
    where assigned = connection_id() and owner is not null;
end$$

-- Interrupts leasehold_attend of a connection.
create procedure leasehold_kill(p_listener bigint unsigned)
begin
    if is_used_lock(concat('leasehold:', p_listener)) = p_listener then
        kill query p_listener;
    end if;
end$$

-- Wakes the connections of the waiters that got grants in the last transaction. Called after its
-- commit. With the rights of the owner; without them, those of the caller.
create procedure leasehold_ring() sql security invoker
begin
    declare listener bigint unsigned;
    declare denied tinyint;
    declare continue handler for 1095 set denied = 1;
    declare continue handler for sqlexception begin end;
    while coalesce(@leasehold_ring, '') <> '' do
        set listener = substring_index(@leasehold_ring, ',', 1);
        set @leasehold_ring = substring(@leasehold_ring, length(listener) + 2);
        set denied = 0;
        call leasehold_kill(listener);
        if denied and is_used_lock(concat('leasehold:', listener)) = listener then
            kill query listener;
        end if;
    end while;
end$$

-- Grants a free lock, whose row is locked, to the first present waiter. Removes the absent waiters
-- before it. Does nothing if the first is `but`.
create procedure leasehold_grant_next(
    p_key varbinary(513), p_but varbinary(512), p_clock bigint, out p_granted tinyint)
begin
    declare first_n, first_claim bigint;
    declare first_listener bigint unsigned;
    declare first_owner varbinary(512);
    select n, owner, claim, listener into first_n, first_owner, first_claim, first_listener
    from leasehold_waiter
    where name = p_key and present_until >= p_clock
        and (listener = 0 or is_used_lock(concat('leasehold:', listener)) = listener)
    order by n limit 1;
    delete from leasehold_waiter where name = p_key and (first_n is null or n < first_n);
    set p_granted = first_n is not null and not first_owner <=> p_but;
    if p_granted then
        delete from leasehold_waiter where name = p_key and n = first_n;
        update leasehold_lock
        set owner = first_owner, expires = p_clock + first_claim * 1000, assigned = first_listener,
            fence = fence + 1, entries = null,
            waited = exists (select 1 from leasehold_waiter where name = p_key)
        where name = p_key;
        if first_listener <> 0 then
            set @leasehold_ring = concat_ws(',', nullif(@leasehold_ring, ''), first_listener);
        end if;
    end if;
end$$

-- Acquires a lock, finds the effect of an earlier request, confirms a grant, or joins the queue. A
-- waiter polls, and extends its presence, by the same request, sent again under the same owner.
--
-- name, owner      not empty; an owner begins with the id of its client and a colon
-- entry            '': acquires the lock. Else the id of this reentrant acquisition
-- lease            ms
-- wanted           the number of fences to reserve
-- floor            the granted fences are larger than this
-- deadline         the latest clock at which this may take effect; 0: any
-- presence, claim  ms; presence 0: does not wait
-- listener         as leasehold_listen returned it; 0: the client has no such connection
-- needs_holder     whether to return the holder
-- quiet            1: keeps the results in variables, for leasehold_release
--
-- result     1 granted, 0 held, -1 late: nothing was changed,
--            -2 reentrant, and the owner does not hold the lock
-- fence      granted: the last fence of the block; 0 if reentrant
-- fences     granted: their number
-- remaining  held: the rest of the lease in ms, rounded up
-- place      held: the number of owners before it in the queue, at most 100; -1: not in the queue
-- holder     held: the client of the holder, if requested
-- clock      the clock
create procedure leasehold_acquire(
    p_name varbinary(4096), p_owner varbinary(512), p_entry varbinary(512), p_lease bigint,
    p_wanted bigint, p_floor bigint, p_deadline bigint, p_presence bigint, p_claim bigint,
    p_listener bigint unsigned, p_needs_holder tinyint, p_quiet tinyint)
begin
    declare k varbinary(513) default if(length(p_name) <= 512, p_name,
        concat(left(p_name, 481), unhex(sha2(p_name, 256))));
    declare t bigint default cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
    declare r_result, r_fences, r_remaining, r_place, r_fence bigint;
    declare r_holder, o varbinary(512);
    declare e, f, b, mine bigint;
    declare w, a, taken, done, known tinyint default 0;
    declare ids mediumblob;

    try: begin
        if p_deadline <> 0 and t > p_deadline then
            set r_result = -1;
            leave try;
        end if;
        if p_entry = '' then
            -- The fast path: a free lock without waiters. A block of fences never ends after the
            -- clock, which counts two fences each microsecond as in the other stores, so that
            -- fences rise even if the row was lost. Assignments take effect from left to right.
            update leasehold_lock
            set block = greatest(1, least(p_wanted, 10000, 2 * t - greatest(fence, p_floor))),
                fence = greatest(fence + 1, p_floor + 1, 2 * t), owner = p_owner,
                expires = t + p_lease * 1000, assigned = null, entries = null
            where name = k and waited = 0 and (owner is null or expires <= t);
            set taken = row_count() > 0;
            -- A request for a held lock keeps no row locked and writes nothing.
            if not taken and p_presence = 0 then
                select owner, expires into o, e from leasehold_lock where name = k;
                if o <> p_owner and e > t then
                    set r_result = 0, r_remaining = (e - t + 999) div 1000, r_place = -1,
                        r_holder = if(p_needs_holder, substring_index(o, ':', 1), null);
                    leave try;
                end if;
            end if;
        end if;

        select owner, expires, fence, block, waited, assigned is not null, entries, 1
        into o, e, f, b, w, a, ids, known
        from leasehold_lock where name = k for update;
        if not known then
            if p_entry <> '' then
                set r_result = -2;
                leave try;
            end if;
            -- An earlier row may have been lost, so the fences are above the clock. Waiters without
            -- this row: it was deleted by hand.
            insert into leasehold_lock
                (name, owner, fence, expires, block, waited, assigned, entries, long_name)
            values (k, null, 2 * t, 0, 0,
                    exists (select 1 from leasehold_waiter where name = k), null, null,
                    if(length(p_name) > 512, p_name, null))
            on duplicate key update block = block;
            select owner, expires, fence, block, waited, assigned is not null, entries
            into o, e, f, b, w, a, ids
            from leasehold_lock where name = k for update;
        end if;

        -- The row is locked from here on.
        set t = cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
        if p_deadline <> 0 and t > p_deadline then
            if taken then
                update leasehold_lock set owner = null where name = k;
            end if;
            set r_result = -1;
            leave try;
        end if;
        if taken then
            set r_result = 1, r_fence = f, r_fences = b;
            leave try;
        end if;
        if e <= t then
            set o = null;
        end if;

        if p_entry <> '' then
            if not o <=> p_owner then
                set r_result = -2;
                leave try;
            end if;
            set ids = coalesce(ids, ',,');
            if locate(concat(',', hex(p_entry), ','), ids) = 0 then
                set ids = concat(ids, hex(p_entry), ',');
            end if;
            update leasehold_lock
            set expires = greatest(expires, t + p_lease * 1000), entries = ids
            where name = k;
            set r_result = 1, r_fence = 0, r_fences = 0;
            leave try;
        end if;

        if o is null and w then
            call leasehold_grant_next(k, p_owner, t, done);
            if done then
                select owner, expires, waited into o, e, w from leasehold_lock where name = k;
            end if;
        end if;

        if o is null or o = p_owner then
            if w then
                delete from leasehold_waiter where name = k and owner = p_owner;
                set w = exists (select 1 from leasehold_waiter where name = k);
            end if;
            if o is not null and not a and f > p_floor then
                -- An earlier request, whose reply may be lost, reserved fences for this owner. So
                -- no other owner can have the last of them.
                update leasehold_lock
                set expires = greatest(expires, t + p_lease * 1000), waited = w
                where name = k;
                set r_fence = f, r_fences = 1;
            else
                set r_fence = greatest(f + 1, p_floor + 1, 2 * t),
                    r_fences = greatest(1, least(p_wanted, 10000, 2 * t - greatest(f, p_floor)));
                update leasehold_lock
                set expires = if(o is null, t + p_lease * 1000,
                                 greatest(expires, t + p_lease * 1000)),
                    entries = if(o is null, null, entries), owner = p_owner, waited = w,
                    assigned = null, fence = r_fence, block = r_fences
                where name = k;
            end if;
            set r_result = 1;
            leave try;
        end if;

        set r_result = 0, r_remaining = (e - t + 999) div 1000, r_place = -1,
            r_holder = if(p_needs_holder, substring_index(o, ':', 1), null);
        if p_presence = 0 then
            leave try;
        end if;
        select n into mine from leasehold_waiter where name = k and owner = p_owner;
        if mine is not null then
            update leasehold_waiter
            set present_until = t + p_presence * 1000, claim = least(p_lease, p_claim),
                listener = p_listener
            where name = k and n = mine;
        else
            select coalesce(max(n), 0) + 1 into mine from leasehold_waiter where name = k;
            insert into leasehold_waiter (name, n, owner, present_until, claim, listener)
            values (k, mine, p_owner, t + p_presence * 1000, least(p_lease, p_claim), p_listener);
        end if;
        if not w then
            update leasehold_lock set waited = 1 where name = k;
        end if;
        select count(*) into r_place
        from (select 1 from leasehold_waiter where name = k and n < mine limit 100) as earlier;
    end try;

    if p_quiet then
        set @leasehold_result = r_result, @leasehold_fence = r_fence,
            @leasehold_fences = r_fences, @leasehold_remaining = r_remaining,
            @leasehold_place = r_place;
    else
        select r_result as result, r_fence as fence, r_fences as fences, r_remaining as remaining,
               r_place as place, r_holder as holder, t as clock;
    end if;
end$$

-- Releases a lock or a reentrant acquisition, or removes the owner from the queue. A released lock
-- is granted to the first present waiter. In the same step the client may acquire it, or join the
-- queue, under its next owner.
--
-- next_owner  '': none. The other parameters of next as in leasehold_acquire
--
-- result       1 freed, 2 still held by other entries of the owner, 3 the owner did not hold the
--              lock and was removed from the queue, 4 granted to the first waiter,
--              0 the owner, or this entry, does not hold the lock: nothing was changed
-- next_result  1 granted, 0 held; null: none, late, or nothing was released
-- next_...     as in leasehold_acquire
create procedure leasehold_release(
    p_name varbinary(4096), p_owner varbinary(512), p_entry varbinary(512),
    p_next_owner varbinary(512), p_next_lease bigint, p_next_wanted bigint, p_next_floor bigint,
    p_next_deadline bigint, p_next_presence bigint, p_next_claim bigint,
    p_next_listener bigint unsigned)
begin
    declare k varbinary(513) default if(length(p_name) <= 512, p_name,
        concat(left(p_name, 481), unhex(sha2(p_name, 256))));
    declare t bigint default cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
    declare o varbinary(512);
    declare e bigint;
    declare ids mediumblob;
    declare at int;
    declare r_result, w, known, done tinyint default 0;
    set @leasehold_result = null, @leasehold_fence = null, @leasehold_fences = null,
        @leasehold_remaining = null, @leasehold_place = null;

    try: begin
        if p_entry = '' and p_next_owner = '' then
            update leasehold_lock set owner = null, assigned = null
            where name = k and owner = p_owner and expires > t and waited = 0 and entries is null;
            if row_count() > 0 then
                set r_result = 1;
                leave try;
            end if;
        end if;

        select owner, expires, waited, coalesce(entries, ',,'), 1 into o, e, w, ids, known
        from leasehold_lock where name = k for update;
        set t = cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
        if e <= t then
            set o = null;
        end if;
        if not o <=> p_owner then
            if p_entry = '' then
                delete from leasehold_waiter where name = k and owner = p_owner;
                if row_count() > 0 then
                    set r_result = 3;
                    if known and o is null then
                        call leasehold_grant_next(k, null, t, done);
                    end if;
                end if;
            end if;
            leave try;
        end if;
        set at = locate(concat(',', hex(p_entry), ','), ids);
        if at = 0 then
            leave try;
        end if;
        set ids = insert(ids, at, 2 * length(p_entry) + 2, ',');
        if ids <> ',' then
            update leasehold_lock set entries = ids where name = k;
            set r_result = 2;
        else
            if w then
                call leasehold_grant_next(k, null, t, done);
            end if;
            if done then
                set r_result = 4;
            else
                update leasehold_lock
                set owner = null, entries = null, waited = 0, assigned = null
                where name = k;
                set r_result = 1;
            end if;
        end if;
        if p_next_owner <> '' then
            call leasehold_acquire(p_name, p_next_owner, '', p_next_lease, p_next_wanted,
                                   p_next_floor, p_next_deadline, p_next_presence, p_next_claim,
                                   p_next_listener, 0, 1);
            if @leasehold_result < 0 then
                set @leasehold_result = null;
            end if;
        end if;
    end try;
    select r_result as result, @leasehold_result as next_result, @leasehold_fence as next_fence,
           @leasehold_fences as next_fences, @leasehold_remaining as next_remaining,
           @leasehold_place as next_place, t as clock;
end$$

-- Renews locks: extends each lease to the given time from now, and never shortens it. Returns a
-- text with '1' for each renewal, or '0' if the owner, or this entry, does not hold the lock.
--
-- p_batch  the renewals, in the order of names. Each is the lease in ms as 16 digits, the lengths
--          of the name, the owner and the entry as 4 digits each, and these three
create procedure leasehold_renew(p_batch longblob)
begin
    declare at int unsigned default 1;
    declare t, lease bigint;
    declare name_size, owner_size, entry_size int;
    declare k varbinary(4096);
    declare o, entry varbinary(512);
    declare results longblob default '';
    while at < length(p_batch) do
        set lease = substring(p_batch, at, 16), name_size = substring(p_batch, at + 16, 4),
            owner_size = substring(p_batch, at + 20, 4),
            entry_size = substring(p_batch, at + 24, 4);
        set k = substring(p_batch, at + 28, name_size),
            o = substring(p_batch, at + 28 + name_size, owner_size),
            entry = substring(p_batch, at + 28 + name_size + owner_size, entry_size);
        set at = at + 28 + name_size + owner_size + entry_size;
        if name_size > 512 then
            set k = concat(left(k, 481), unhex(sha2(k, 256)));
        end if;
        set t = cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
        -- A row counts only if the update changes it, so the lease becomes longer in each case.
        update leasehold_lock set expires = greatest(expires + 1, t + lease * 1000)
        where name = k and owner = o and expires > t
            and (entries is null and entry = ''
                 or locate(concat(',', hex(entry), ','), entries) > 0);
        set results = concat(results, if(row_count() > 0, '1', '0'));
    end while;
    select results as renewed;
end$$

-- Deletes the rows that were not used for the retention (ms), so that a fence of a name is kept for
-- that time. Checks `most` rows after the key `after`, and skips rows in use. Returns the key to
-- continue with, and '' at the end.
create procedure leasehold_sweep(p_after varbinary(513), p_retention bigint, p_most int)
begin
    declare t bigint default cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
    declare oldest bigint default t - greatest(p_retention, 1000) * 1000;
    declare last, k varbinary(513);
    declare unused, at_end tinyint default 0;
    -- The end of the last lease is after its grant. A fence above the clock is kept: without the
    -- row, the next fence would be smaller.
    declare found cursor for
        select name from leasehold_lock
        where name > p_after and name <= last and expires < oldest and fence < 2 * t;
    declare continue handler for not found set at_end = 1;
    if p_after = '' then
        delete from leasehold_client where seen < oldest;
    end if;
    select max(checked.name) into last
    from (select name from leasehold_lock where name > p_after order by name limit p_most)
        as checked;
    open found;
    sweeping: loop
        set at_end = 0;
        fetch found into k;
        if at_end then
            leave sweeping;
        end if;
        set unused = 0;
        select 1 into unused from leasehold_lock
        where name = k and expires < oldest and fence < 2 * t for update skip locked;
        if unused and not exists (select 1 from leasehold_waiter
                                  where name = k and present_until >= oldest) then
            delete from leasehold_waiter where name = k;
            delete from leasehold_lock where name = k;
        end if;
    end loop;
    close found;
    select coalesce(last, '') as last;
end$$

-- Keeps the description of a client for its retention.
create procedure leasehold_introduce(p_client varbinary(512), p_info varbinary(4096))
begin
    declare t bigint default cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
    insert into leasehold_client (id, seen, info) values (p_client, t, p_info)
    on duplicate key update seen = t, info = p_info;
end$$

-- The description of the client whose id begins with these bytes. No row: there is none.
create procedure leasehold_describe(p_prefix varbinary(512))
begin
    select info from leasehold_client
    where id >= p_prefix and left(id, length(p_prefix)) = p_prefix
    order by id limit 1;
end$$

-- The held locks, for operators: all, or that of a name.
--
-- owner      in full: it can acquire the lock reentrantly, and release it
-- remaining  the rest of the lease in ms
-- holds      the number of acquisitions of the owner
-- waiters    the number of owners in the queue
-- info       the description of the holder's client; null: unknown
create procedure leasehold_held(p_name varbinary(4096))
begin
    declare t bigint default cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
    select coalesce(l.long_name, l.name) as name, l.owner,
           (l.expires - t + 999) div 1000 as remaining, l.fence,
           coalesce(length(l.entries) - length(replace(l.entries, ',', '')) - 1, 1) as holds,
           (select count(*) from leasehold_waiter as w where w.name = l.name) as waiters, c.info
    from leasehold_lock as l
    left join leasehold_client as c on c.id = substring_index(l.owner, ':', 1)
    where l.owner is not null and l.expires > t
        and (p_name is null or l.name = if(length(p_name) <= 512, p_name,
             concat(left(p_name, 481), unhex(sha2(p_name, 256)))))
    order by l.name;
end$$

-- The queue of a name, for operators, the first waiter first.
create procedure leasehold_queue(p_name varbinary(4096))
begin
    declare t bigint default cast(unix_timestamp(sysdate(6)) * 1000000 as signed);
    select w.owner,
           w.present_until >= t and (w.listener = 0 or coalesce(
               is_used_lock(concat('leasehold:', w.listener)) = w.listener, 0)) as present,
           c.info
    from leasehold_waiter as w
    left join leasehold_client as c on c.id = substring_index(w.owner, ':', 1)
    where w.name = if(length(p_name) <= 512, p_name,
        concat(left(p_name, 481), unhex(sha2(p_name, 256))))
    order by w.n;
end$$

-- Removes the lock of one owner, with all its reentrant acquisitions, for operators. The result
-- begins with 1 freed, 4 granted to the first waiter, 0 the owner does not hold the lock: nothing
-- was changed.
create procedure leasehold_remove(p_name varbinary(4096), p_owner varbinary(512))
begin
    declare k varbinary(513) default if(length(p_name) <= 512, p_name,
        concat(left(p_name, 481), unhex(sha2(p_name, 256))));
    declare held tinyint default 0;
    select 1 into held from leasehold_lock
    where name = k and owner = p_owner
        and expires > cast(unix_timestamp(sysdate(6)) * 1000000 as signed) for update;
    if held then
        update leasehold_lock set entries = null where name = k;
        call leasehold_release(p_name, p_owner, '', '', 0, 0, 0, 0, 0, 0, 0);
    else
        select 0 as result;
    end if;
end$$

delimiter ;
set session sql_mode = @leasehold_sql_mode;
set session sql_notes = @leasehold_notes;
