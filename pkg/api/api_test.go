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
		A api.Time  `json:"a"`
		B *api.Time `json:"b"`
		C *api.Time `json:"c"`
	}{api.At(at), api.MaybeAt(at.Add(7 * time.Millisecond)), api.MaybeAt(time.Time{})})
	if err != nil || string(b) != `{"a":"2026-01-02T02:04:05.000Z","b":"2026-01-02T02:04:05.007Z","c":null}` {
		t.Errorf("got %s, %v", b, err)
	}
	var back struct {
		A *api.Time `json:"a"`
		B *api.Time `json:"b"`
	}
	if err := json.Unmarshal([]byte(`{"a":"2026-01-02T03:04:05+01:00","b":null}`), &back); err != nil || !back.A.Equal(at) || back.B != nil {
		t.Errorf("got %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"a":"yesterday"}`), &back); err == nil {
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
