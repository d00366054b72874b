package dashboard_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestSessionExpires: a session ends two hours after its last request, and 24 hours after its begin in any case.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		expect := func(get func(string) int, want int) {
			t.Helper()
			if got := get("/projects"); got != want {
				t.Errorf("%d, want %d", got, want)
			}
		}
		session := func() func(string) int {
			get := signedIn(t, hostileAPI(t, "shop", "ready"))
			return func(path string) int {
				resp, _ := get(path)
				return resp.Code
			}
		}
		idle := session()
		time.Sleep(2*time.Hour - time.Minute)
		expect(idle, http.StatusOK)
		time.Sleep(2*time.Hour + time.Minute)
		expect(idle, http.StatusSeeOther)
		used := session()
		for range 23 {
			time.Sleep(time.Hour)
			expect(used, http.StatusOK)
		}
		time.Sleep(time.Hour + time.Minute)
		expect(used, http.StatusSeeOther)
	})
}
