package main

// faultsOfLogs are those of the logs and of the object store below them.
func faultsOfLogs() []fault {
	const dir = "data/replica/"
	return []fault{
		{
			name: "a taken slot counts as appended", file: dir + "append.go",
			old: "		l.fenced = fmt.Errorf(\"append %d to %s: %w\", txid, l.prefix, ErrFenced)\n		return l.fenced\n", new: "		_ = fmt.Errorf\n",
		},
		{
			name: "a merge crosses the fork", file: dir + "compact.go",
			old: "c.run(level, l.base.TXID)", new: "c.run(level, 0)", test: "data/replica TestMergeStaysOnOneSideOfTheFork",
		},
		{
			name: "the newest transaction counts as superseded", file: dir + "cover.go",
			old: "	if f.Level == 0 && f.Max == c.newest {\n		return at, false", new: "	if false {\n		return at, false",
			test: "data/replica TestSupersededPast|TestForks|TestEveryTransaction|TestPlanLastsLong",
		},
		{
			name: "any object in the way is one's own", file: "data/objstore/settle.go",
			old: "	case same:\n		return found, true, nil", new: "	case same || cond.IfAbsent:\n		return found, true, nil",
		},
		{
			name: "one's own lost PUT counts as rejected", file: "data/objstore/settle.go",
			old: "	case same:\n		return found, true, nil", new: "	case same && size < 0:\n		return found, true, nil", test: "data/objstore TestSettle",
		},
		{
			name: "a body that ends early is taken as whole", file: "data/objstore/settle.go",
			old: "	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):\n", new: "	case errors.Is(err, io.ErrUnexpectedEOF) && got < 0:\n",
			test: "data/objstore TestReadAndListAll",
		},
	}
}
