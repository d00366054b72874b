package obs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/obs"
)

func TestGCMetrics(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics(buildinfo.Build{})
	if text := scrape(t, m); !strings.Contains(text, "svc_gc_last_sweep_timestamp_seconds 0") {
		t.Error("the time of a sweep is not 0 before the first:\n" + text)
	}
	m.GCDeleted(3, 30)
	m.GCDeleted(2, 12)
	m.GCSweepDone(100, time.UnixMilli(1_500))
	m.GCAuditDone(4, time.UnixMilli(2_500))
	text := scrape(t, m)
	for _, want := range []string{
		"svc_gc_deleted_objects_total 5", "svc_gc_deleted_bytes_total 42", "svc_gc_pinned_bytes 100", "svc_gc_audit_problems 4",
		"svc_gc_last_sweep_timestamp_seconds 1.5", "svc_gc_last_audit_timestamp_seconds 2.5",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
