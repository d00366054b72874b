package main

// faultsOfHistory are those of points of the past, of the objects that keep them, and of their sweep.
func faultsOfHistory() []fault {
	const plane, log, store = "data/dataplane/", "data/replica/", "data/branch/"
	return []fault{
		{
			name: "a point is offered whose transactions are not all there", file: plane + "past.go",
			old: "p.at(point.moment); sum == point.sum {", new: "p.at(point.moment); sum != 0 {", test: "data/dataplane TestPointIncomplete",
		},
		{
			name: "a point does not hold writers", file: plane + "point.go",
			old: "	release, ok := v.gate.try(ctx, pointHold)\n", new: "	release, ok := func() {}, ctx.Err() == nil\n", test: "data/dataplane TestPointOfLongWrite",
		},
		{
			name: "the time of a new owner comes before the epoch", file: plane + "past.go",
			old: "return cmp.Or(cmp.Compare(m.epoch, o.epoch), cmp.Compare(m.ms, o.ms))", new: "return cmp.Compare(m.ms, o.ms)", test: "data/dataplane TestPointIncomplete",
		},
		{
			name: "the time goes back after a point", file: plane + "clock.go",
			old: "max(c.now().UnixMilli(), c.point+1, c.last)", new: "c.now().UnixMilli()", test: "data/dataplane TestClockGoesBack",
		},
		{
			name: "no point follows what was staged without one", file: plane + "stage.go",
			old: "goal.mark > point.mark", new: "goal.mark > point.mark && false", test: "data/dataplane TestPointOfLongWrite",
		},
		{
			name: "a point counts only some databases", file: plane + "history.go",
			old: "err = v.follow(ctx, name)", new: "_ = name", test: "data/dataplane TestPointNeedsAll",
		},
		{
			name: "no segment ends where a moment was noted", file: "data/cowvfs/moment.go",
			old: "		c.marks = append(c.marks, mark{to: c.done, size: c.size, moment: m})\n", new: "		_ = m\n", test: "data/cowvfs TestMoment",
		},
		{
			name: "level 0 goes before its history is written", file: log + "pack.go",
			old: "f.Level == 0 && f.Max > l.past.end", new: "f.Level == 0 && f.Max > l.past.end && false", test: "data/dataplane TestHistoryStays",
		},
		{
			name: "a minute ends before its last point", file: log + "groups.go",
			old: "		case next.IsPoint() || !list[i].IsPoint():\n			return false\n", new: "		case next.Time < 0:\n			return false\n", test: "data/replica TestGroups",
		},
		{
			name: "plans of the past name files that sweeps do not keep", file: log + "history.go",
			old: "		case 1:\n			return true", new: "		case 1:\n			return false", test: "data/replica TestPastNamesKeptFiles",
		},
		{
			name: "a sweep deletes what leads to the oldest point", file: store + "past.go",
			old: "h.Tier != TierSeconds && h.Max > merged", new: "h.Tier != TierSeconds && h.Max > merged && false", test: "data/branch TestWhatLeadsToAPoint",
		},
		{
			name: "a sweep deletes merged files that points need", file: store + "past.go",
			old: "			p.files[f.id()] = true\n", new: "			_ = p.files[f.id()]\n", test: "data/branch TestKeptForTheGrace",
		},
		{
			name: "a sweep deletes history that a child names", file: store + "past.go",
			old: "				pins[key] = append(pins[key], m.ref)\n", new: "				_ = pins\n", test: "data/dataplane TestHistoryPinned",
		},
		{
			name: "minutes go before their hours are written", file: store + "history.go",
			old: "h.Tier == TierMinutes && h.Max > hours[h.Prefix]", new: "h.Tier == TierMinutes && h.Max == 0", test: "data/branch TestKept",
		},
		{
			name: "a body goes that a kept point names", file: store + "blobs.go",
			old: "earlier(d.since.Add(h.keep.Longest()))", new: "earlier(d.since)", test: "data/branch TestBlobOfThePast",
		},
		{
			name: "an object is deleted as soon as nothing offers its points", file: store + "past.go",
			old: "Kept(time.Now().Add(-grace))", new: "Kept(time.Now())", test: "data/branch TestKeptForTheGrace",
		},
	}
}
