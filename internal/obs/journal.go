package obs

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
)

// JournalSocket is where systemd's journal takes records.
const JournalSocket = "/run/systemd/journal/socket"

// journal writes lines of a JSON handler as records of systemd's journal. A line that the
// journal does not take, because it is too long or no journal runs, goes to rest unchanged.
type journal struct {
	conn net.Conn // nil without a journal
	rest io.Writer
}

// NewJournalLogger returns a logger that writes to the journal at a socket: the text and the
// attributes as MESSAGE, the level as PRIORITY, and each attribute as a field SVC_NAME of its
// own. What the journal does not take goes to rest as JSON.
func NewJournalLogger(ctx context.Context, socket string, rest io.Writer, level slog.Leveler) *slog.Logger {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unixgram", socket)
	if err != nil {
		conn = nil
	}
	return NewLogger(&journal{conn, rest}, LogOptions{Level: level})
}

// Write implements io.Writer for one line.
func (j *journal) Write(line []byte) (int, error) {
	if j.conn != nil {
		if record, err := journalRecord(line); err == nil {
			if _, err = j.conn.Write(record); err == nil {
				return len(line), nil
			}
		}
	}
	return j.rest.Write(line)
}

// journalRecord turns a line of JSON into a record.
func journalRecord(line []byte) ([]byte, error) {
	var attrs map[string]json.RawMessage
	if err := json.Unmarshal(line, &attrs); err != nil {
		return nil, err
	}
	message, level := plain(attrs[slog.MessageKey]), plain(attrs[slog.LevelKey])
	for _, key := range []string{slog.MessageKey, slog.LevelKey, slog.TimeKey} {
		delete(attrs, key) // the journal has a time of its own
	}
	var fields bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		value := plain(attrs[name])
		message += " " + name + "=" + value
		addField(&fields, "SVC_"+fieldName(name), value)
	}
	addField(&fields, "MESSAGE", message)
	addField(&fields, "PRIORITY", priority(level))
	addField(&fields, "SYSLOG_IDENTIFIER", "svcd")
	return fields.Bytes(), nil
}

// plain is a text without its quotes, and everything else as JSON.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// fieldName is a name in the letters that the journal allows.
func fieldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}

// addField adds a field in the journal's format: a value of several lines has its length in
// front, 64 bits, least byte first.
func addField(b *bytes.Buffer, name, value string) {
	if !strings.Contains(value, "\n") {
		fmt.Fprintf(b, "%s=%s\n", name, value)
		return
	}
	b.WriteString(name + "\n")
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(value))))
	b.WriteString(value + "\n")
}

// priority is the level of syslog for one of slog.
func priority(level string) string {
	switch {
	case strings.HasPrefix(level, "ERROR"):
		return "3"
	case strings.HasPrefix(level, "WARN"):
		return "4"
	case strings.HasPrefix(level, "DEBUG"):
		return "7"
	}
	return "6"
}
