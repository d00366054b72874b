package fork

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// txid returns the cut for the version's record, its fork_txid: "7" for one database of
// the user, "a=7,b=9" for several, and without one the position of the shared database,
// or "0".
func txid(bases map[string]branch.DatabaseBase) string {
	var users []string
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		if strings.HasPrefix(name, volume.UserPrefix) {
			users = append(users, name)
		}
	}
	at := func(name string) string { return strconv.FormatUint(bases[name].TXID, 10) }
	switch len(users) {
	case 0:
		return at(volume.SharedDatabase)
	case 1:
		return at(users[0])
	}
	for i, name := range users {
		users[i] = strings.TrimPrefix(name, volume.UserPrefix) + "=" + at(name)
	}
	return strings.Join(users, ",")
}
