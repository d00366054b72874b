package main

// faultsOfDatabases are those of the databases of a version: writes, cuts, openings, takeovers.
func faultsOfDatabases() []fault { //nolint:revive // a table
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
		{
			name: "a cut is one transaction early", file: dir + "cut.go",
			old: "m.db.log.Cut(m.txid)", new: "m.db.log.Cut(max(m.txid-1, 1))",
		},
		{
			name: "a cut is one transaction late", file: dir + "cut.go",
			old: "m.db.log.Cut(m.txid)", new: "m.db.log.Cut(m.db.log.Position())",
		},
		{
			name: "a cut does not close the gate", file: dir + "cut.go",
			old: "	open, err = v.gate.acquire(ctx)\n", new: "	open, err = func() {}, nil\n", test: "data/dataplane TestCutIsOnePosition",
		},
		{
			name: "the error of an append is swallowed", file: dir + "ship.go",
			old: "		if err := p.ship(ctx, *p.current); err != nil {\n			return err\n		}",
			new: "		if err := p.ship(ctx, *p.current); err != nil && final(err) {\n			return err\n		}",
		},
		{
			name: "later commits count as shipped", file: dir + "ship.go",
			old: "		p.shipped, p.since = goal, time.Time{}", new: "		p.shipped, p.since = p.written, time.Time{}",
		},
		{
			name: "a segment is made again after an unknown outcome", file: dir + "ship.go",
			old: "		if err := p.ship(ctx, *p.current); err != nil {\n			return err\n",
			new: "		if err := p.ship(ctx, *p.current); err != nil {\n			p.current = nil\n			return err\n",
		},
		{
			name: "files are marked dead that the local file still reads", file: dir + "compact.go",
			old: "!db.file.Hydrated() && !closing", new: "closing && false", test: "data/dataplane TestHydrationKeepsItsSource",
		},
		{
			name: "an archive does not ship", file: dir + "archive.go",
			old: "			err = db.ship.flush(ctx)", new: "			err = nil",
		},
		{
			name: "files of an earlier boot are trusted", file: dir + "cache.go",
			old: "	if string(mark) == current {", new: "	if string(mark) != \"\" {", test: "data/dataplane TestAnotherBoot|TestAnotherBootOnlyCopy",
		},
		{
			name: "the only copy of a database is not shipped", file: dir + "open.go",
			old: "	if err := db.shipOnlyCopy(); err != nil {", new: "	if err := error(nil); err != nil {", test: "data/dataplane TestOnlyCopyIsShipped",
		},
		{
			name: "a disk that failed once is trusted again", file: dir + "disk.go",
			old: "			d.failed = fmt.Errorf(\"sync WAL: %w\", err)\n", new: "			r.err = fmt.Errorf(\"sync WAL: %w\", err)\n			return\n",
			test: "data/dataplane TestFailedSyncIsFinal",
		},
	}
}
