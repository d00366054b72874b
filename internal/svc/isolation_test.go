package svc_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestParseIsolation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"100000-165535": 65536, "2000 - 2000": 1, "1000-65533": 64534, "65536-4294967293": 4294901758,
		"": 0, "100000": 0, "x-y": 0, "5-4000": 0, "3000-2000": 0, "60000-70000": 0, "-1-4": 0, "100000-4294967295": 0,
	} {
		got, err := svc.ParseIsolation(text)
		if got.Size() != want || (err == nil) != (want > 0) || got.On() != (want > 0) {
			t.Errorf("%q: %d uids, %v; want %d", text, got.Size(), err, want)
		}
	}
	i, err := svc.ParseIsolation("100000-100001")
	if err != nil || i.Has(99999) || !i.Has(100000) || !i.Has(100001) || i.Has(100002) || i.String() != "100000-100001" {
		t.Errorf("%v, %v", i, err)
	}
	if (svc.Isolation{}).Has(0) {
		t.Error("no isolation has root")
	}
}
