SELECT * FROM leasehold.acquire('floor', 'floor:1', '', 30000, 1, 0, 0, 0, 0, 0, false);
SELECT * FROM leasehold.release('floor', 'floor:1', '', '', 1, 1, 0, 0, 0, 0, 0);
