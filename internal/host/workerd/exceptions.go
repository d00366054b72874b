package workerd

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// An uncaught exception is printed up to three times, all within one turn of
// the event loop but perhaps with others between:
//
//	caught by V8:   info  "uncaught exception; source = Uncaught (in promise); stack = MyErr: boom\n    at f (index.js:2:25)"
//	of the context: info  "uncaught exception; exception = workerd/jsg/value.h:1456: failed: jsg.Error: MyErr: boom\nstack: /path@3f68b70 ..."
//	of the request: error "Uncaught exception: workerd/jsg/value.h:1456: failed: remote.jsg.Error: MyErr: boom"
//	of its abort:   info  "execution context aborted; e = workerd/io/io-context.c++:2052: failed: jsg.Error: ... hung ..."
//
// The first is there when JavaScript was on the stack, the last when a request
// failed by it; a failing stream has only the last two, waitUntil work only the
// first two. The last stands in place of the first two for a handler that hangs,
// and after them for one that ended itself.
const (
	ofV8      = "uncaught exception; source = "
	ofContext = "uncaught exception; exception = "
	ofRequest = "Uncaught exception: "
	ofAbort   = "execution context aborted; e = "
)

// ofCall begins the account of a call of another process that failed. workerd cancels such a
// call at the same moment as one that hangs, and prints that, too.
const (
	ofCall     = "returning failure over rpc; exception = "
	hanging    = "The Workers runtime canceled this request because it detected that your Worker's code had hung"
	sameMoment = 100 * time.Millisecond
)

// ofCache is in the warning that workerd prints at its start with some V8 flags: it compiles
// its own modules then, which takes two milliseconds.
const ofCache = "bootstrap compile cache failed its compatibility check"

var (
	// ownFrame is a frame of a module of the platform.
	ownFrame = regexp.MustCompile(`\n +at [^\n]*\b(?:svc-entry\.js|svc-internal:\w+|svc:\w+):\d+:\d+\)?`)
	// namedObject is how V8 and the context name an object that was thrown and is no Error.
	namedObject = regexp.MustCompile(`^(?:#<[\w$.]*>|\[object \w+\])$`)
	// ofRelay is a frame of the relay of service bindings, which throws what another worker
	// threw. That worker's log has the exception, and the caller's if it does not catch it.
	ofRelay = regexp.MustCompile(`\bsvc-relay\.js:\d+:\d+`)
	// location is a C++ or Rust source position and KJ's "failed: ".
	location = regexp.MustCompile(`^(e = )?\S+:\d+: (failed: )?`)
	// jsError is a JavaScript error as KJ carries it.
	jsError = regexp.MustCompile(`^(?:remote\.)?jsg\.(?:Error: |([\w.]+(?:\([^)]*\))?: ))`)
	// nativeStack is the trace of the binary, of no use to a worker's author.
	nativeStack = regexp.MustCompile(`\nstack:( \S*@[0-9a-f]+)+`)
	// reference is how an internal error is named to the worker.
	reference = regexp.MustCompile(`; sentryErrorContext = \w+; wdErrId = (\w+)$`)
)

// runtimeLine judges a line of workerd itself.
func (p *LogParser) runtimeLine(entry LogLine) (LogLine, bool) {
	if rest, ok := strings.CutPrefix(entry.Message, ofV8); ok {
		_, entry.Message = cutAny(rest, "; stack = ", "; exception = ")
		if p.seen.takeOwn(entry.Message) {
			return LogLine{}, false
		}
		p.seen.add(seenException{text: entry.Message})
		return exception(entry), !ofRelay.MatchString(entry.Message)
	}
	if rest, ok := strings.CutPrefix(entry.Message, ofContext); ok {
		return p.contextLine(entry, rest, false)
	}
	if rest, ok := strings.CutPrefix(entry.Message, ofCall); ok {
		if message, js := plain(rest); js && !strings.HasPrefix(message, hanging) {
			p.failedCall = entry.Time
		}
		return LogLine{}, false
	}
	if rest, ok := strings.CutPrefix(entry.Message, ofAbort); ok {
		return p.contextLine(entry, rest, true)
	}
	if rest, ok := strings.CutPrefix(entry.Message, ofRequest); ok {
		message, _ := plain(rest)
		entry.Message = message
		return exception(entry), !p.seen.take(message)
	}
	if entry.Level == "info" || entry.Level == "debug" || strings.Contains(entry.Message, ofCache) {
		return LogLine{}, false
	}
	entry.Source = SourceRuntime
	entry.Message, _ = plain(entry.Message)
	return entry, true
}

// contextLine judges an account of the context, or of its abort, which tells
// nothing new when an earlier account told of the exception.
func (p *LogParser) contextLine(entry LogLine, account string, abort bool) (LogLine, bool) {
	message, js := plain(account)
	if !js || p.seen.told(message, abort) {
		return LogLine{}, false // a client that hung up, or told before
	}
	if strings.HasPrefix(message, hanging) && !p.failedCall.IsZero() && entry.Time.Sub(p.failedCall) < sameMoment {
		return LogLine{}, false
	}
	entry.Message = message
	p.seen.add(seenException{text: message, context: true, abort: abort})
	return exception(entry), true
}

// exception makes entry an exception, without the frames of the platform's own modules.
func exception(entry LogLine) LogLine {
	entry.Level, entry.Source = "error", SourceException
	entry.Message = withoutOwnFrames(entry.Message)
	return entry
}

// withoutOwnFrames is a text without the frames of the platform's own modules, which say nothing to
// the author of a worker.
func withoutOwnFrames(text string) string {
	if !strings.Contains(text, "svc") || !strings.Contains(text, " at ") {
		return text
	}
	return ownFrame.ReplaceAllString(text, "")
}

// plain takes workerd's wrapping off a message; js tells whether JavaScript
// threw it.
func plain(s string) (message string, js bool) {
	s = nativeStack.ReplaceAllString(s, "")
	s = reference.ReplaceAllString(s, " (reference = $1)")
	s = location.ReplaceAllString(s, "")
	if m := jsError.FindStringSubmatch(s); m != nil {
		return m[1] + s[len(m[0]):], true
	}
	return s, false
}

// cutAny cuts s at the first separator that is in it.
func cutAny(s string, seps ...string) (before, after string) {
	for _, sep := range seps {
		if before, after, ok := strings.Cut(s, sep); ok {
			return before, after
		}
	}
	return "", s
}

// maxSeen bounds how many exceptions are remembered for their later accounts.
const maxSeen = 32

// exceptions remembers what was told of late.
type exceptions struct {
	list []seenException
}

type seenException struct {
	text    string
	context bool // the context's account was given or dropped
	abort   bool // so was that of its abort, which comes after it
	own     bool // package entry told of it, and V8's account is still to come
	object  bool // an object that is no Error: text has its content, and later accounts its class at most
}

func (s *exceptions) add(e seenException) {
	if len(s.list) == maxSeen {
		s.list = slices.Delete(s.list, 0, 1)
	}
	s.list = append(s.list, e)
}

// takeOwn reports whether package entry told of the exception that V8's account tells of.
func (s *exceptions) takeOwn(account string) bool {
	for i := range s.list {
		if e := &s.list[i]; e.own && e.tells(account) {
			e.own = false
			return true
		}
	}
	return false
}

// errorName is the name before the message of an exception, and what may stand after the name:
// JavaScript has "Error [ERR_X]: m" where V8 has "Error: m", and "AbortError: m" where workerd
// has "DOMException(AbortError): m".
var errorName = regexp.MustCompile(`^[\w$.]+(?:\(\w+\)| \[\w+\])?: `)

// tells reports whether e is the exception that an account tells of. The name of the error may
// differ.
func (e *seenException) tells(account string) bool {
	first, _, _ := strings.Cut(account, "\n    at ")
	if e.object && namedObject.MatchString(first) {
		return true
	}
	return strings.Contains(e.text, first) || headline(e.text) == headline(account)
}

// headline is the message of an exception.
func headline(account string) string {
	account, _, _ = strings.Cut(account, "\n    at ")
	return account[len(errorName.FindString(account)):]
}

// told reports whether the context's account, or that of its abort, tells of an
// exception that was told before, and expects it no more.
func (s *exceptions) told(message string, abort bool) bool {
	for i := range s.list {
		e := &s.list[i]
		if e.context == abort && !e.abort && e.tells(message) {
			e.context, e.abort = true, abort
			return true
		}
	}
	return false
}

// take forgets the exception that message tells of and reports whether there
// was one.
func (s *exceptions) take(message string) bool {
	i := slices.IndexFunc(s.list, func(e seenException) bool { return e.tells(message) })
	if i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
	}
	return i >= 0
}

// NoHandler tells the exception of an event that the worker has no handler for.
func NoHandler(message string) bool {
	return strings.HasPrefix(message, "Handler does not export a ")
}
