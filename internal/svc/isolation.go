package svc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Isolation is the range of uids from which each workerd has one of its own, with the gid of the
// same number. The zero value is no isolation: workerd has the uid of the server.
type Isolation struct {
	First int `json:"first"`
	Last  int `json:"last"` // is in the range, too
}

const (
	lowestUID  = 1000      // below it are the users of the system
	highestUID = 1<<32 - 3 // the last two are no uids
	overflow   = 65534     // the uid that stands for those without a number
)

// On reports whether each workerd has a uid of its own.
func (i Isolation) On() bool { return i.Last != 0 }

// Size is the number of uids.
func (i Isolation) Size() int {
	if !i.On() {
		return 0
	}
	return i.Last - i.First + 1
}

// Has reports whether a uid is in the range.
func (i Isolation) Has(uid int) bool { return i.On() && i.First <= uid && uid <= i.Last }

// String is what ParseIsolation reads.
func (i Isolation) String() string { return fmt.Sprintf("%d-%d", i.First, i.Last) }

// ParseIsolation reads FIRST-LAST.
func ParseIsolation(text string) (i Isolation, err error) {
	first, last, ok := strings.Cut(text, "-")
	if ok {
		i.First, err = strconv.Atoi(strings.TrimSpace(first))
	}
	if ok && err == nil {
		i.Last, err = strconv.Atoi(strings.TrimSpace(last))
	}
	switch {
	case !ok || err != nil || i.First < lowestUID || i.Last > highestUID || i.First > i.Last:
		return Isolation{}, fmt.Errorf("want FIRST-LAST, two uids from %d to %d", lowestUID, highestUID)
	case i.Has(overflow) || i.Has(overflow+1):
		return Isolation{}, errors.New("the range must not have 65534 and 65535: the kernel and some programs use them for users without a number")
	}
	return i, nil
}
