-- What a promotion cost the requests of production's host name, in microseconds; NULL when
-- it is not known.
ALTER TABLE promotions ADD COLUMN held_us INTEGER;
ALTER TABLE promotions ADD COLUMN window_us INTEGER;
