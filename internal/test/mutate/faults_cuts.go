package main

// faultsOfCuts are those of cuts, of the way of commits to the log, and of the local files.
func faultsOfCuts() []fault {
	const dir = "data/dataplane/"
	return []fault{
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
			old: "		if err := p.ship(ctx, *p.current); err != nil {\n			return goal, err\n		}",
			new: "		if err := p.ship(ctx, *p.current); err != nil && final(err) {\n			return goal, err\n		}",
		},
		{
			name: "later commits count as shipped", file: dir + "ship.go",
			old: "		p.shipped, p.since = goal.mark, time.Time{}", new: "		p.shipped, p.since = p.written, time.Time{}",
		},
		{
			name: "a segment is made again after an unknown outcome", file: dir + "ship.go",
			old: "		if err := p.ship(ctx, *p.current); err != nil {\n			return goal, err\n",
			new: "		if err := p.ship(ctx, *p.current); err != nil {\n			p.current = nil\n			return goal, err\n",
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
