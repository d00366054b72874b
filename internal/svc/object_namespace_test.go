package svc_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestObjectKeys: without a namespace the key is that of the class, so that ids which workers have
// stored stay valid. No two pairs have the same key.
func TestObjectKeys(t *testing.T) {
	t.Parallel()
	if got := svc.ObjectNamespace("").Key("Room"); got != "Room" {
		t.Errorf("without a namespace: %q", got)
	}
	pairs := map[string][2]string{}
	for _, pair := range [][2]string{
		{"", "Room"}, {"a", "Room"}, {"b", "Room"}, {"a", "Lobby"}, {"", "aRoom"}, {"aR", "oom"}, {"", "a.Room"}, {"", "a-Room"}, {"", "a_Room"}, {"a", "$Room"}, {"a.", "Room"},
	} {
		key := svc.ObjectNamespace(pair[0]).Key(pair[1])
		if other, taken := pairs[key]; taken {
			t.Errorf("%q and %q both have the key %q", pair, other, key)
		}
		pairs[key] = pair
	}
}
