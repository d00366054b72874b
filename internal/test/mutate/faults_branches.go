package main

// faultsOfBranches are those of records, manifests and sweeps.
func faultsOfBranches() []fault {
	const dir = "data/branch/"
	return []fault{
		{
			name: "the mark of a takeover is forgotten by the next owner", file: dir + "owner.go",
			old: "		takeover = takeover || r.TakenOver", new: "		_ = r.TakenOver",
			test: "data/branch TestTakeoverStaysUntilTheRelease",
		},
		{
			name: "a takeover does not wait for the lease", file: dir + "owner.go",
			old: "			if err := s.awaitExpiry(ctx, svc.Owner{Node: daemon, Session: r.Session}); err != nil {", new: "			if err := ctx.Err(); err != nil {",
			test: "data/branch TestTakeoverWaitsForTheLease",
		},
		{
			name: "a grant of an earlier session still holds", file: dir + "owner.go",
			old: "r.Epoch != g.Epoch || r.Owner != g.Owner.Node || r.Session != g.Owner.Session", new: "r.Owner != g.Owner.Node",
			test: "data/branch TestEarlierGrantIsLost",
		},
		{
			name: "another fork's manifest is accepted", file: dir + "store.go",
			old: "	if there == nil || there.ForkID != f.ID {", new: "	if there == nil {", test: "data/branch TestForkOnce",
		},
		{
			name: "a sweep has no grace", file: dir + "sweep.go",
			old: "classify(s.grace)", new: "classify(0)",
		},
		{
			name: "a sweep does not look twice", file: dir + "sweep.go",
			old: "both(candidates, again.Gone)", new: "append(candidates[:len(candidates):len(candidates)], again.Gone[:0]...)",
			test: "data/branch TestSweepForkedMeanwhile",
		},
		{
			name: "a sweep ignores a change of owner", file: dir + "sweep.go",
			old: "		if !sameEpoch(seen[v].record, now) {", new: "		if false && !sameEpoch(seen[v].record, now) {",
			test: "data/branch TestSweepOwnerChangedMeanwhile",
		},
		{
			name: "a sweep does not keep the files of an archived cut", file: dir + "member.go",
			old: "	m.record.eachCut(func(f File) { need[f.id()] = true })\n", new: "", test: "data/branch TestSweepKeepsTheCutOfAnArchivedVersion",
		},
		{
			name: "dead lists count although they are newer than the listing", file: dir + "survey.go",
			old: " || list.since.After(began)", new: "", test: "data/branch TestSweepWhileFilesAreMerged",
		},
	}
}
