//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// doors are clients that write ids through each way into a version, and what they know.
type doors struct {
	d    *daemon
	prod string // production's URL
	from string // URL of a worker of another project, which calls production
	all  sync.WaitGroup

	mu    sync.Mutex
	acks  map[string][]ack // by door
	fails map[string]int
	words map[string]int // of failed requests, by door and code
	own   api.Version    // that the writers of one version use
}

// ack is a write that was acknowledged. version is "" for one that production acknowledged.
type ack struct {
	id, version string
	at          time.Time
}

// door writes ids and returns those that are acknowledged now.
type door func(ctx context.Context, id string) (acknowledged []string, err error)

// start runs the writers until ctx ends.
func (s *doors) start(ctx context.Context) {
	c := s.d.http()
	var socket *websocket.Conn
	for name, write := range map[string]door{
		"production": s.post(c, func() string { return s.prod + "/write" }),
		"service":    s.post(c, func() string { return s.from + "/write" }),
		"queue":      s.post(c, func() string { return s.prod + "/send" }),
		"alarm":      s.post(c, func() string { return s.prod + "/alarm" }),
		"workflow":   s.post(c, func() string { return s.prod + "/flow" }),
		"websocket":  func(ctx context.Context, id string) ([]string, error) { return s.message(ctx, &socket, id) },
		"waitUntil":  s.late(c),
	} {
		s.all.Go(func() { s.write(ctx, name, "", write) })
	}
	for name, write := range map[string]func(api.Version) door{
		"own":  func(v api.Version) door { return s.post(c, func() string { return v.PreviewURL + "/write" }) },
		"api":  s.query,
		"cron": s.trigger,
	} {
		s.all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				v := s.version()
				s.once(ctx, name, v.ID, n, write(v))
			}
		})
	}
}

// progress waits for n more acknowledged writes.
func (s *doors) progress(n int) {
	s.d.t.Helper()
	count := func() (sum int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, acks := range s.acks {
			sum += len(acks)
		}
		return sum
	}
	before := count()
	svctest.Eventually(s.d.t, "writes", func() bool { return count() >= before+n })
}

func (s *doors) version() api.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

func (s *doors) use(v api.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = v
}

func (s *doors) write(ctx context.Context, name, version string, do door) {
	for n := 0; ctx.Err() == nil; n++ {
		s.once(ctx, name, version, n, do)
	}
}

// once writes one id and notes what is acknowledged.
func (s *doors) once(ctx context.Context, name, version string, n int, do door) {
	asked, cancel := context.WithTimeout(ctx, 20*time.Second)
	ids, err := do(asked, fmt.Sprintf("%s-%d", name, n))
	cancel()
	at := time.Now()
	s.mu.Lock()
	for _, id := range ids {
		s.acks[name] = append(s.acks[name], ack{id, version, at})
	}
	if err != nil {
		s.fails[name]++
		s.words[name+" "+said(err)]++
	}
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// said returns the code of a failure, or how it begins.
func said(err error) string {
	if code := client.CodeOf(err); code != "" {
		return code
	}
	return fmt.Sprintf("%.60s", err.Error())
}

// post writes by a request.
func (s *doors) post(c *http.Client, url func() string) door {
	return func(ctx context.Context, id string) ([]string, error) {
		a, err := fetch(ctx, c, http.MethodPost, url(), id)
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%d %s %s", a.Status, a.Header.Get("Svc-Error"), a.Body)
		}
		if err != nil {
			return nil, err
		}
		return []string{id}, nil
	}
}

// late has waitUntil write; answers name the ids whose writes have returned.
func (s *doors) late(c *http.Client) door {
	return func(ctx context.Context, id string) (ids []string, err error) {
		a, err := fetch(ctx, c, http.MethodPost, s.prod+"/late", id)
		if err == nil && a.Status == http.StatusOK {
			err = json.Unmarshal([]byte(a.Body), &ids)
		}
		return ids, err
	}
}

// message writes by a websocket, which is opened again after an error.
func (s *doors) message(ctx context.Context, socket **websocket.Conn, id string) (ids []string, err error) {
	defer func() {
		if err != nil && *socket != nil {
			_ = (*socket).CloseNow()
			*socket = nil
		}
	}()
	if *socket == nil {
		if *socket, _, err = websocket.Dial(ctx, s.prod+"/socket", &websocket.DialOptions{HTTPClient: s.d.http()}); err != nil {
			return nil, err
		}
	}
	if err = (*socket).Write(ctx, websocket.MessageText, []byte(id)); err != nil {
		return nil, err
	}
	_, text, err := (*socket).Read(ctx)
	if err == nil && string(text) != id {
		err = fmt.Errorf("it says %s", text)
	}
	if err != nil {
		return nil, err
	}
	return []string{id}, nil
}

// query writes to a version by the API.
func (s *doors) query(v api.Version) door {
	return func(ctx context.Context, id string) ([]string, error) {
		write := false
		text := fmt.Sprintf("INSERT OR IGNORE INTO rows VALUES ('%s', '%s', '')", id, v.ID)
		_, err := s.d.client().Query(ctx, v.ProjectID, v.ID, api.DatabaseQuery{SQL: text, ReadOnly: &write})
		if err != nil {
			return nil, err
		}
		return []string{id}, nil
	}
}

// trigger has the cron handler of a version write.
func (s *doors) trigger(v api.Version) door {
	return func(ctx context.Context, id string) ([]string, error) {
		var n int64
		if _, err := fmt.Sscanf(strings.TrimPrefix(id, "cron-"), "%d", &n); err != nil {
			return nil, err
		}
		due := api.At(time.UnixMilli(n).UTC())
		run, err := s.d.client().TriggerScheduled(ctx, v.ProjectID, v.ID, api.TriggerScheduled{ScheduledTime: &due})
		if err == nil && run.Outcome != "ok" {
			err = fmt.Errorf("the run is %s", run.Outcome)
		}
		if err != nil {
			return nil, err
		}
		return []string{id}, nil
	}
}
