//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// tested is a version with writers, and what its clients know.
type tested struct {
	w     *crashRun
	id    string
	url   string
	index int

	end context.CancelFunc // stops the writers
	all sync.WaitGroup

	mu    sync.Mutex
	known map[int]int // acknowledged, by writer
	tried map[int]int // sent
}

// link is entry n of a writer's chain.
func link(w, n int) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d/%d", w, n)))
}

// start starts the writers of a version: two that count, one with transactions of random size.
func (v *tested) start() {
	ctx, cancel := context.WithCancel(v.w.t.Context())
	v.end = cancel
	for k := range 2 {
		v.all.Go(func() { v.count(ctx, v.index*10+k) })
	}
	seed := v.w.rand.Uint64()
	v.all.Go(func() { v.churn(ctx, rand.New(rand.NewPCG(seed, 1))) })
}

// stop stops the writers and waits for them.
func (v *tested) stop() {
	v.end()
	v.all.Wait()
}

func (v *tested) count(ctx context.Context, writer int) {
	c := v.w.http()
	for ctx.Err() == nil {
		v.mu.Lock()
		n := v.known[writer] + 1
		v.tried[writer] = n
		v.mu.Unlock()
		body, err := json.Marshal(map[string]any{"w": writer, "n": n, "hash": link(writer, n)})
		if err == nil {
			err = v.post(ctx, c, "/append", body)
		}
		if err == nil {
			v.mu.Lock()
			v.known[writer] = n
			v.mu.Unlock()
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (v *tested) churn(ctx context.Context, r *rand.Rand) {
	c := v.w.http()
	for ctx.Err() == nil {
		body, err := json.Marshal(mess(r))
		if err == nil {
			err = v.post(ctx, c, "/churn", body)
		}
		pause := time.Duration(r.IntN(50)) * time.Millisecond
		if err != nil {
			pause = 20 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// mess is a transaction of random size.
func mess(r *rand.Rand) []string {
	x := fmt.Sprint("x", r.IntN(3))
	rows := func(n int) string {
		return fmt.Sprintf("WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) INSERT INTO t(k, v) SELECT 'many', hex(randomblob(800)) FROM n", n)
	}
	switch p := r.IntN(20); {
	case p < 9:
		return []string{fmt.Sprintf("INSERT INTO t(k, v) VALUES ('k%d', hex(randomblob(%d)))", r.IntN(1000), r.IntN(2000))}
	case p < 12:
		return []string{fmt.Sprintf("UPDATE t SET v = hex(randomblob(%d)) WHERE id %% 17 = %d", r.IntN(1000), r.IntN(17))}
	case p < 14:
		return []string{"CREATE TABLE IF NOT EXISTS " + x + "(a TEXT PRIMARY KEY, b TEXT)", "INSERT OR REPLACE INTO " + x + " SELECT k, v FROM t LIMIT 30"}
	case p < 15:
		return []string{"DROP TABLE IF EXISTS " + x}
	case p < 17:
		return []string{rows(200 + r.IntN(400)), "UPDATE t SET v = hex(randomblob(700)) WHERE k = 'many'", "DELETE FROM t WHERE k = 'many' AND id % 3 > 0"}
	default:
		return []string{"DELETE FROM t WHERE id < (SELECT max(id) - 150 FROM t)"}
	}
}

func (v *tested) post(ctx context.Context, c *http.Client, path string, body []byte) error {
	a, err := fetch(ctx, c, http.MethodPost, v.url+path, string(body))
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%d: %.200s", a.Status, a.Body)
	}
	return err
}

func (v *tested) acks() map[int]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.known)
}

func (v *tested) tries() map[int]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.tried)
}

// acknowledged is the number of writes that clients saw succeed.
func (v *tested) acknowledged() (sum int) {
	for w, n := range v.acks() {
		if w/10 == v.index {
			sum += n
		}
	}
	return sum
}
