package arming_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/server/versions/arming"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestReadOnly: each version of a read-only project receives the setting, also after one that cannot be, and the
// caller knows when that is done.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{readOnly: true, hung: "b"}
		w.set("a", map[string]svc.Status{"a": svc.StatusReady, "b": svc.StatusReady})
		s := arming.New(w, w, slog.New(slog.DiscardHandler))
		if err := s.ReadOnlyChanged(t.Context(), "shop"); err == nil || !strings.Contains(err.Error(), "shop/b") {
			t.Errorf("the error is %v, want one about b", err)
		}
		if want := []string{"-b read-only", "-c read-only", "+a read-only"}; !slices.Equal(w.calls, want) {
			t.Errorf("the calls of Arm are %q, want %q", w.calls, want)
		}
		w.calls, w.hung, w.readOnly = nil, "", false
		if err := s.ReadOnlyChanged(t.Context(), "shop"); err != nil {
			t.Error(err)
		}
		if want := []string{"-b", "-c", "+a"}; !slices.Equal(w.calls, want) {
			t.Errorf("the calls of Arm are %q, want %q", w.calls, want)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.ReadOnlyChanged(t.Context(), "shop"); err == nil {
			t.Error("after Stop no version receives it, and the caller gets no error")
		}
	})
}
