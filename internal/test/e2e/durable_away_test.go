//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// While the object store is away for long, writes of Durable Objects fail and reads work; when it is
// back, everything that was acknowledged is there, also in a child.
func TestObjectsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	const dir, kept = "../../../examples/chat", 50 // messages that a room shows
	store := objectStore(t)
	d := started(t, external(store, "SVC_SYNC_WINDOW=100ms")...)
	v1 := d.deploy(dir, "--version", "v1")
	d.says(v1, "lobby?name=ann", "1", `{"messages":1}`)
	store.Way.Down(true)
	said := 1
	say := func() (ok bool) {
		a := d.do(http.MethodPost, v1.PreviewURL+"/lobby?name=ann", "text/plain", fmt.Sprint(said+1))
		if a.Status == http.StatusOK {
			said++
			if want := fmt.Sprintf(`{"messages":%d}`, min(said, kept)); a.Body != want {
				t.Errorf("the room says %s, want %s", a.Body, want)
			}
		}
		return a.Status == http.StatusOK
	}
	svctest.Eventually(t, "writes to fail", func() bool { return !say() })
	isLast := func(a answer) bool { return strings.HasSuffix(a.Body, fmt.Sprintf(`"text":"%d"}]`, said)) }
	if a := d.get(v1.PreviewURL + "/lobby"); !isLast(a) {
		t.Errorf("after %d messages the room has %d %s", said, a.Status, a.Body)
	}
	if server, err := d.client().ServerInfo(t.Context()); err != nil || server.State.DataBehindSeconds < 1 {
		t.Errorf("the server is %v behind, %v", server.State.DataBehindSeconds, err)
	}

	store.Way.Down(false)
	svctest.Eventually(t, "writes to be accepted", say)
	v2 := d.deploy(dir, "--version", "v2", "--parent", "v1")
	if a := d.served(v2.PreviewURL + "/lobby"); !isLast(a) {
		t.Errorf("after %d messages the child has %s", said, a.Body)
	}
}
