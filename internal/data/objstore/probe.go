package objstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// ProbeError says what is wrong with an object store, for its operator. Such an
// object store loses data sooner or later.
type ProbeError struct{ Wrong string }

func (e *ProbeError) Error() string { return "the object store " + e.Wrong }

func wrong(format string, args ...any) error { return &ProbeError{fmt.Sprintf(format, args...)} }

const (
	probeRacers  = 8
	probeLength  = 64 // bytes of an object
	probeCleanup = 10 * time.Second
)

// Probe checks that an object store has the properties that the data of versions
// needs: one of several creators wins and later ones are rejected, compare-and-set
// compares, ranges are exact and a listing is up to date. The first property that
// does not hold is a *ProbeError; any other error says only that a request failed.
// Probe makes 17 requests, 8 of them concurrently, and a few more when answers are
// lost. They concern one object with a random name below the folder prefix, which
// Probe deletes in the end.
func Probe(ctx context.Context, b Bucket, prefix string) error {
	folder := strings.TrimSuffix(prefix, "/") + "/" + rand.Text() + "/"
	p := &probe{bucket: b, folder: strings.TrimPrefix(folder, "/")}
	p.key = p.folder + "object"
	err := p.run(ctx)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeCleanup)
	defer cancel()
	_ = b.Delete(ctx, p.key) // err is reported instead
	if found, ok := errors.AsType[*ProbeError](err); ok {
		return found
	}
	return fmt.Errorf("probe object store: %w", err)
}

type probe struct {
	bucket      Bucket
	folder, key string
	data        []byte // content of the object
	info        Info
}

func (p *probe) run(ctx context.Context) error {
	for _, ask := range []func(context.Context) error{p.race, p.create, p.swap, p.ranges, p.list} {
		if err := ask(ctx); err != nil {
			return err
		}
	}
	return nil
}

func probeBody() []byte { return []byte(strings.Repeat(rand.Text(), 3)[:probeLength]) }

// put reports whether data was stored under cond; after an error that is unknown.
func (p *probe) put(ctx context.Context, data []byte, cond Condition) (stored bool, err error) {
	info, err := p.bucket.Put(ctx, p.key, bytes.NewReader(data), int64(len(data)), cond)
	if errors.Is(err, ErrPrecondition) {
		return false, nil
	}
	if err == nil {
		p.data, p.info = data, info
	}
	return err == nil, err
}

// race creates the object with several concurrent writers. A request without an
// answer does not matter when another one won.
func (p *probe) race(ctx context.Context) error {
	racers := make([]probe, probeRacers)
	bodies := make([][]byte, probeRacers)
	errs := make([]error, probeRacers)
	var wg sync.WaitGroup
	for i := range racers {
		racers[i], bodies[i] = *p, probeBody()
		wg.Go(func() { _, errs[i] = racers[i].put(ctx, bodies[i], Condition{IfAbsent: true}) })
	}
	wg.Wait()
	winners := 0
	for _, r := range racers {
		if r.data != nil {
			winners++
			*p = r
		}
	}
	switch {
	case winners == 1:
		return nil
	case winners > 1:
		return p.several(ctx, winners)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if won, err := p.stored(ctx, bodies...); won || err != nil {
		return err
	}
	return wrong("rejects a new key under If-None-Match on PUT: nothing could be written")
}

// several reports why the race had more than one winner.
func (p *probe) several(ctx context.Context, winners int) error {
	if err := p.create(ctx); err != nil {
		return err
	}
	return wrong("let %d of %d concurrent writers create one key in spite of If-None-Match on PUT: they would overwrite each other", winners, probeRacers)
}

// stored reports whether one of these bodies is the object: a put whose answer was
// lost is rejected when the client retries it.
func (p *probe) stored(ctx context.Context, bodies ...[]byte) (bool, error) {
	data, info, err := Read(ctx, p.bucket, p.key, 0, -1)
	if errors.Is(err, ErrNotExist) {
		return false, nil
	}
	for _, body := range bodies {
		if err == nil && bytes.Equal(data, body) {
			p.data, p.info = data, info
			return true, nil
		}
	}
	return false, err
}

// create tries to create the object again.
func (p *probe) create(ctx context.Context) error {
	same, sameErr := p.put(ctx, p.data, Condition{IfAbsent: true})
	other, err := p.put(ctx, probeBody(), Condition{IfAbsent: true})
	switch {
	case other:
		return wrong("ignores If-None-Match on PUT: two writers would overwrite each other")
	case same:
		return wrong("accepts the same bytes twice under If-None-Match on PUT: two writers would both win")
	}
	return errors.Join(sameErr, err)
}

// swap replaces the object under its current ETag, and again under the old one,
// which must fail.
func (p *probe) swap(ctx context.Context) error {
	cond := Condition{IfMatch: p.info.ETag}
	if cond.IfMatch == "" {
		return wrong("returns no ETag on PUT: records could not be changed safely")
	}
	body := probeBody()
	stored, err := p.put(ctx, body, cond)
	if err == nil && !stored {
		stored, err = p.stored(ctx, body)
	}
	if err == nil && !stored {
		err = wrong("rejects If-Match on PUT with the right ETag: no record could be changed")
	}
	if err != nil {
		return err
	}
	stored, err = p.put(ctx, probeBody(), cond)
	if stored {
		return wrong("ignores If-Match on PUT: a host that lost ownership could overwrite the new owner's records")
	}
	return err
}

// ranges reads a part from the middle, and the rest from there.
func (p *probe) ranges(ctx context.Context) error {
	const off = 7
	for _, n := range []int64{13, -1} {
		want := p.data[off:]
		if n >= 0 {
			want = want[:n]
		}
		got, info, err := p.get(ctx, off, n)
		switch {
		case err != nil:
			return err
		case !bytes.Equal(got, want):
			return wrong("does not answer range reads exactly: asked for %d bytes from byte %d, got %d other bytes", len(want), off, len(got))
		case info.Size != probeLength || info.ETag != p.info.ETag:
			return wrong("describes an object differently on GET than on PUT: %d bytes with ETag %s, not %d bytes with ETag %s", info.Size, info.ETag, probeLength, p.info.ETag)
		}
	}
	return nil
}

func (p *probe) get(ctx context.Context, off, n int64) ([]byte, Info, error) {
	r, info, err := p.bucket.Get(ctx, p.key, off, n)
	if errors.Is(err, ErrNotExist) {
		return nil, info, wrong("does not find an object just written")
	}
	if err != nil {
		return nil, info, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, 2*probeLength))
	return data, info, err
}

// list lists the object after its last write and after its deletion.
func (p *probe) list(ctx context.Context) error {
	page, err := p.bucket.List(ctx, p.folder, "", 2)
	if err != nil {
		return err
	}
	if len(page) != 1 || page[0].Key != p.key || page[0].Size != probeLength {
		return wrong("does not list an object just written: the newest writes would be missing after a restart")
	}
	if err := p.bucket.Delete(ctx, p.key); err != nil {
		return err
	}
	if page, err = p.bucket.List(ctx, p.folder, "", 2); err != nil {
		return err
	}
	if len(page) > 0 {
		return wrong("lists a deleted object: restores would fail")
	}
	return nil
}
