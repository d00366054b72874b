package checkup_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/server/upkeep/checkup"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// expect runs a check. A finding that is not ok or skipped says what to change.
func expect(t *testing.T, c checkup.Check, status svc.FindingStatus, detail string) {
	t.Helper()
	list, err := checkup.New(c).Run(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	f := list[0]
	if f.Check != c.Name || f.Status != status || !strings.Contains(f.Detail, detail) {
		t.Errorf("%+v, want %s with %q", f, status, detail)
	}
	if wrong := status == svc.FindingWarning || status == svc.FindingFailed; wrong != (f.Advice != "") {
		t.Errorf("advice %q with %s", f.Advice, status)
	}
}

func TestDisk(t *testing.T) {
	t.Parallel()
	for free, want := range map[int64]svc.FindingStatus{100 << 20: svc.FindingFailed, 1 << 30: svc.FindingWarning, 3 << 30: svc.FindingWarning, 50 << 30: svc.FindingOK} {
		of := func(string) (machine.Disk, error) { return machine.Disk{Total: 100 << 30, Free: free}, nil }
		expect(t, checkup.Disk("/data", of), want, "of 100.0 GiB free at /data")
	}
	gone := func(string) (machine.Disk, error) { return machine.Disk{}, errors.New("it is gone") }
	expect(t, checkup.Disk("/data", gone), svc.FindingFailed, "it is gone")
}

func TestDescriptors(t *testing.T) {
	t.Parallel()
	expect(t, checkup.Descriptors(1024, 16384, 448), svc.FindingWarning, "accepts 448 connections, SVC_MAX_CONNECTIONS is 16384")
	expect(t, checkup.Descriptors(1<<20, 16384, 16384), svc.FindingOK, "")
	expect(t, checkup.Descriptors(20000, 16384, 8976), svc.FindingOK, "enough for 8976 connections of the 16384")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	trouble := func(k *svc.TokensTrouble) func() *svc.TokensTrouble {
		return func() *svc.TokensTrouble { return k }
	}
	expect(t, checkup.Tokens(trouble(nil)), svc.FindingOK, "can be read")
	expect(t, checkup.Tokens(trouble(&svc.TokensTrouble{File: "/t.yaml", Detail: "broken", Valid: 2})), svc.FindingWarning, "/t.yaml: broken; 2 tokens of before stay valid until")
	expect(t, checkup.Tokens(trouble(&svc.TokensTrouble{File: "/t.yaml", Detail: "gone"})), svc.FindingFailed, "none of its tokens is valid")
}

func TestGroups(t *testing.T) {
	t.Parallel()
	expect(t, checkup.Groups("cpu and memory", nil), svc.FindingOK, "a control group with cpu and memory")
	expect(t, checkup.Groups("", errors.New("not delegated")), svc.FindingOK, "memory is measured, and processor time is shared as between any processes: not delegated")
}

func TestConfinement(t *testing.T) {
	t.Parallel()
	expect(t, checkup.Confinement(svc.ConfineAuto, true, false, false), svc.FindingOK, "Landlock")
	expect(t, checkup.Confinement(svc.ConfineAuto, true, false, false), svc.FindingOK, "SVC_ISOLATION=process")
	expect(t, checkup.Confinement(svc.ConfineAuto, true, true, false), svc.FindingOK, "SVC_ISOLATION=user")
	expect(t, checkup.Confinement(svc.ConfineOff, true, true, false), svc.FindingWarning, "what all users of the machine may read; each one has a user of its own")
	expect(t, checkup.Confinement(svc.ConfineAuto, false, false, false), svc.FindingWarning, "missing or denied")
	expect(t, checkup.Confinement(svc.ConfineOff, true, false, false), svc.FindingWarning, "SVC_WORKER_CONFINE is off")
	expect(t, checkup.Confinement(svc.ConfineAuto, false, false, true), svc.FindingSkipped, "other machines")
}

// lax is a store that ignores preconditions.
type lax struct{ objstore.Bucket }

func (l lax) Put(ctx context.Context, key string, body io.Reader, size int64, _ objstore.Condition) (objstore.Info, error) {
	return l.Bucket.Put(ctx, key, body, size, objstore.Condition{})
}

func TestStore(t *testing.T) {
	t.Parallel()
	expect(t, checkup.Store(&memstore.Bucket{}, "probe", "embedded"), svc.FindingOK, "embedded keeps its preconditions")
	expect(t, checkup.Store(lax{&memstore.Bucket{}}, "probe", "http://s3"), svc.FindingFailed, "http://s3: the object store ")
	expect(t, checkup.Store(down{&memstore.Bucket{}}, "probe", "http://s3"), svc.FindingFailed, "http://s3 does not answer")
}

// down is a store that does not answer.
type down struct{ objstore.Bucket }

func (down) Put(context.Context, string, io.Reader, int64, objstore.Condition) (objstore.Info, error) {
	return objstore.Info{}, errors.New("connection refused")
}

func TestClock(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler()) // as an S3 answers strangers
	t.Cleanup(s.Close)
	after := func(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }
	expect(t, checkup.Clock("", s.Client(), time.Now), svc.FindingSkipped, "embedded")
	expect(t, checkup.Clock("http://127.0.0.1:1", s.Client(), time.Now), svc.FindingSkipped, "does not say its time")
	expect(t, checkup.Clock(s.URL, s.Client(), time.Now), svc.FindingOK, "apart")
	expect(t, checkup.Clock(s.URL, s.Client(), after(5*time.Minute)), svc.FindingWarning, "apart from the object store")
	expect(t, checkup.Clock(s.URL, s.Client(), after(-time.Hour)), svc.FindingFailed, "refuses signatures")
}

func TestWorkerd(t *testing.T) {
	t.Parallel()
	find := func(path string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return path, err }
	}
	expect(t, checkup.Workerd("/bin/workerd", "1.2", find("/bin/workerd", nil)), svc.FindingOK, "1.2 at /bin/workerd")
	expect(t, checkup.Workerd("/bin/workerd", "1.2", find("/opt/workerd", nil)), svc.FindingWarning, "a restart would run /opt/workerd")
	gone := svc.Errorf(svc.NotFound, svc.CodeWorkerdNotInstalled, "workerd 1.2 is not installed").WithHint("run `svcctl runtime install`")
	expect(t, checkup.Workerd("/bin/workerd", "1.2", find("", gone)), svc.FindingFailed, "workerd 1.2 is not installed")
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	const deep, flat = "{version}.{project}.apps.example.com", "{version}--{project}.apps.example.com"
	expect(t, checkup.Addresses("http://127.0.0.1:8787", "ingress.local", deep, true, false), svc.FindingOK, "this machine only")
	expect(t, checkup.Addresses("http://127.0.0.1:8787", "ingress.local", deep, false, false), svc.FindingWarning, "other machines")
	expect(t, checkup.Addresses("https://apps.example.com", "ingress.local", deep, true, false), svc.FindingFailed, "below ingress.local")
	expect(t, checkup.Addresses("https://apps.example.com", "apps.example.com", deep, true, false), svc.FindingWarning, "a wildcard certificate for each project")
	expect(t, checkup.Addresses("https://apps.example.com", "apps.example.com", deep, true, true), svc.FindingOK, deep)
	expect(t, checkup.Addresses("https://apps.example.com", "apps.example.com", flat, true, false), svc.FindingOK, flat)
}
