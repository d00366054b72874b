package main

// faultsOfDatabases are those of the databases of a version: writes, openings, takeovers.
func faultsOfDatabases() []fault {
	const dir = "data/dataplane/"
	return []fault{
		{
			name: "a write in sync is acknowledged before the PUT", file: dir + "database.go",
			old: "		return errors.Join(err, db.ship.await(ctx, after))", new: "		return err",
		},
		{
			name: "a write in async returns without a sync", file: dir + "database.go",
			old: "	return errors.Join(err, db.toDisk())", new: "	return err",
		},
		{
			name: "a write in async returns without a sync, by a test", file: dir + "database.go",
			old: "	return errors.Join(err, db.toDisk())", new: "	return err", test: "data/dataplane TestAcknowledgedIsOnDisk",
		},
		{
			name: "reads in sync do not wait for the log", file: dir + "database.go",
			old: "	return errors.Join(err, db.awaitDurable(ctx))", new: "	return err",
		},
		{
			name: "a takeover does not claim the logs", file: dir + "open.go",
			old: "	if v.grant.TakenOver || v.grant.Unreleased {", new: "	if false {",
			test: "data/dataplane TestFenced|TestFencedInTheMiddle|TestTakeoverOfEmptyDatabase|TestTakeoverInterrupted",
		},
		{
			name: "a late append of the same machine is not claimed against", file: dir + "claim.go",
			old: "	case db.continues:\n", new: "	case db.continues || !db.volumes.grant.TakenOver:\n",
			test: "data/dataplane TestLateAppend|TestLateAppendAfterCrash",
		},
		{
			name: "the first write of an unclaimed log does not wait for it", file: dir + "database.go",
			old: "	case db.unclaimed.Load():\n", new: "	case db.unclaimed.Load() && false:\n", test: "data/dataplane TestLateFirstAppend",
		},
		{
			name: "local segments are trusted after a crash", file: dir + "open.go",
			old: "		if err := db.isInLog(ctx, seg); err != nil {", new: "		if err := db.isInLog(ctx, seg); err != nil && ctx.Err() != nil {",
		},
		{
			name: "reads in sync are answered after a takeover", file: dir + "watch.go",
			old: "v.cfg.Sync && passed(v.watch.confirmed.Load()) > v.cfg.confirmedFor()", new: "false",
			test: "data/dataplane TestStaleReads",
		},
	}
}
