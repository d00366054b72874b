package workerhost

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// served are resources whose data is one handler.
type served struct {
	Resources // nothing else is asked of them

	handler http.HandlerFunc
}

func (s served) Data(func(http.ResponseWriter, *http.Request, error)) http.Handler { return s.handler }

// A stop interrupts the requests under way, lets them answer and refuses others.
func TestDataServerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newDataServer(t.Context(), served{handler: func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "interrupted")
		}}, slog.New(slog.DiscardHandler))
		h := New(Options{})
		h.open.Store(&version{data: s})
		answers := make(chan *httptest.ResponseRecorder)
		ask := func() {
			w := httptest.NewRecorder()
			h.Data(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
			answers <- w
		}
		go ask()
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		go ask()
		if err := control.ReadError((<-answers).Result()); svc.CodeOf(err) != svc.CodeRuntimeNotOpen {
			t.Errorf("a request after the stop: %v", err)
		}
		if w := <-answers; w.Body.String() != "interrupted" {
			t.Errorf("the request under way got %q", w.Body)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestDataServerStopIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s := newDataServer(t.Context(), served{handler: func(http.ResponseWriter, *http.Request) { <-end }}, slog.New(slog.DiscardHandler))
		go s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		synctest.Wait()
		if began, err := time.Now(), s.Close(); err == nil || time.Since(began) != dataStopTime {
			t.Errorf("Close: %v after %s", err, time.Since(began))
		}
		close(end)
	})
}

// A host without an open version has no data.
func TestDataOfAClosedHost(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	New(Options{}).Data(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if err := control.ReadError(w.Result()); !errors.Is(err, svc.Conflict) {
		t.Errorf("it answers with %v", err)
	}
}
