package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

func TestTimeHasMillisecondsInUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	b, err := json.Marshal(struct {
		A api.Time
		B *api.Time
		C *api.Time
	}{api.At(at), api.MaybeAt(at.Add(7 * time.Millisecond)), api.MaybeAt(time.Time{})})
	if err != nil || string(b) != `{"A":"2026-01-02T02:04:05.000Z","B":"2026-01-02T02:04:05.007Z","C":null}` {
		t.Errorf("got %s, %v", b, err)
	}
	var back struct{ A, B *api.Time }
	if err := json.Unmarshal([]byte(`{"A":"2026-01-02T03:04:05+01:00","B":null}`), &back); err != nil || !back.A.Equal(at) || back.B != nil {
		t.Errorf("got %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"A":"yesterday"}`), &back); err == nil {
		t.Error("any text is a time")
	}
}

func TestOpenAPIIsACopy(t *testing.T) {
	t.Parallel()
	api.OpenAPI()[0] = 'x'
	if !json.Valid(api.OpenAPI()) {
		t.Error("the document was changed from outside")
	}
}
