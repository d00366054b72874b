-- What a promotion left behind with the previous production, as a JSON object (svc.Left);
-- NULL when it was not counted.
ALTER TABLE promotions ADD COLUMN left_behind TEXT;
