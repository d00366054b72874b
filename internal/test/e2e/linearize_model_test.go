//go:build e2e

package e2e

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// registerOp is an operation of a client on one register.
type registerOp struct {
	register string
	op       string // read, write, cas
	value    int64  // that is written
	expects  int64  // by cas
	answered bool
	got      int64 // by read
	did      bool  // cas has written
	began    time.Time
	ended    time.Time
}

// register is the model of one register, which begins with 0. An operation without an answer fits every
// state: it had its effect at any time after its begin, or never.
func register() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(state, input, _ any) (bool, any) {
			now, _ := state.(int64)
			c, _ := input.(registerOp)
			switch {
			case c.op == "read":
				return c.got == now, now
			case c.op == "write":
				return true, c.value
			case c.answered && c.did != (now == c.expects):
				return false, now
			case now == c.expects:
				return true, c.value
			}
			return true, now
		},
	}
}

// linearizable returns the number of registers, and what is wrong: one text for each whose calls do not fit into
// one order.
func linearizable(calls []registerOp) (registers int, wrong []string) {
	by := map[string][]porcupine.Operation{}
	for _, c := range calls {
		if c.op == "read" && !c.answered {
			continue
		}
		end := int64(math.MaxInt64)
		if c.answered {
			end = c.ended.UnixNano()
		}
		by[c.register] = append(by[c.register], porcupine.Operation{ClientId: len(by[c.register]), Input: c, Call: c.began.UnixNano(), Return: end})
	}
	for name, ops := range by {
		switch porcupine.CheckOperationsTimeout(register(), ops, time.Minute) {
		case porcupine.Ok:
		case porcupine.Unknown:
			wrong = append(wrong, fmt.Sprintf("%s: %d calls were not checked within a minute", name, len(ops)))
		case porcupine.Illegal:
			wrong = append(wrong, name+" is not linearizable:\n"+story(ops))
		}
	}
	return len(by), wrong
}

// story lists the calls of a register by their begin.
func story(ops []porcupine.Operation) (text string) {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, op := range ops {
		c, _ := op.Input.(registerOp)
		took := "no answer"
		if c.answered {
			took = c.ended.Sub(c.began).String()
		}
		text += fmt.Sprintf("  %s %s %d, expects %d, got %d, did %t, %s\n", c.began.Format("05.000000"), c.op, c.value, c.expects, c.got, c.did, took)
	}
	return text
}

// TestRegisterModel: the model tells orders that a register can have from others.
func TestRegisterModel(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	write := registerOp{op: "write", value: 1, answered: true, began: at(1), ended: at(2)}
	lost := registerOp{op: "write", value: 2, began: at(1)}
	read := func(v int64, began int) registerOp {
		return registerOp{op: "read", got: v, answered: true, began: at(began), ended: at(began + 1)}
	}
	cas := func(expects, value int64, did bool, began int) registerOp {
		return registerOp{op: "cas", expects: expects, value: value, did: did, answered: true, began: at(began), ended: at(began + 1)}
	}
	for name, tc := range map[string]struct {
		calls []registerOp
		sound bool
	}{
		"a read after the write":            {[]registerOp{write, read(1, 3)}, true},
		"a write that is lost":              {[]registerOp{write, read(0, 3)}, false},
		"no answer, seen":                   {[]registerOp{lost, read(2, 3)}, true},
		"no answer, seen later":             {[]registerOp{lost, read(0, 3), read(2, 5)}, true},
		"seen, and gone":                    {[]registerOp{lost, read(2, 3), read(0, 5)}, false},
		"set by one of two":                 {[]registerOp{write, cas(1, 5, true, 3), cas(1, 6, false, 3), read(5, 5)}, true},
		"set by both":                       {[]registerOp{write, cas(1, 5, true, 3), cas(1, 6, true, 3)}, false},
		"not set, although nothing else is": {[]registerOp{write, cas(1, 5, false, 3)}, false},
	} {
		if _, wrong := linearizable(tc.calls); (len(wrong) == 0) != tc.sound {
			t.Errorf("%s: got %q", name, wrong)
		}
	}
}
