package objects

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/svcctl/svcctl/internal/svc"
)

// refusal is an error a worker sees, with its code in R2's API.
type refusal struct {
	status int
	code   int
	text   string
	object *object // for a condition that did not hold on a get
}

func (r *refusal) Error() string { return r.text }

// The codes that are looked at beyond this file.
const (
	codeInternal = 10001
	codeNoKey    = 10007
	codeFailed   = 10031
)

// The refusals that say no more than their names.
var (
	errNoKey          = &refusal{status: http.StatusNotFound, code: codeNoKey, text: "The specified key does not exist."}
	errTooSmall       = &refusal{status: http.StatusBadRequest, code: 10011, text: "Your proposed upload is smaller than the minimum allowed object size."}
	errMetadata       = &refusal{status: http.StatusBadRequest, code: 10012, text: "Your metadata headers exceed the maximum allowed metadata size."}
	errName           = &refusal{status: http.StatusBadRequest, code: 10020, text: "The specified object name is not valid."}
	errLimit          = &refusal{status: http.StatusBadRequest, code: 10022, text: "MaxKeys params must be positive integer <= 1000."}
	errNoUpload       = &refusal{status: http.StatusBadRequest, code: 10024, text: "The specified multipart upload does not exist."}
	errPart           = &refusal{status: http.StatusBadRequest, code: 10025, text: "One or more of the specified parts could not be found."}
	errFailed         = &refusal{status: http.StatusPreconditionFailed, code: codeFailed, text: "At least one of the pre-conditions you specified did not hold."}
	errRange          = &refusal{status: http.StatusRequestedRangeNotSatisfiable, code: 10039, text: "The requested range is not satisfiable"}
	errUpload         = &refusal{status: http.StatusInternalServerError, code: 10048, text: "There was a problem with the multipart upload."}
	errTooLarge       = &refusal{status: http.StatusBadRequest, code: 100100, text: "Your proposed upload exceeds the maximum allowed object size."}
	errInternal       = &refusal{status: http.StatusInternalServerError, code: codeInternal, text: "We encountered an internal error. Please try again."}
	errInvalidRequest = invalid("Metadata missing or invalid")
)

// invalid refuses an argument.
func invalid(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, code: 10029, text: fmt.Sprintf(format, args...)}
}

func badDigest(name string, given, actual []byte) error {
	return &refusal{status: http.StatusBadRequest, code: 10037, text: fmt.Sprintf(
		"The %[1]s checksum you specified did not match what we received.\nYou provided a %[1]s checksum with value: %[2]s\nActual %[1]s was: %[3]s",
		name, hex.EncodeToString(given), hex.EncodeToString(actual))}
}

// failedOn is a condition that did not hold for o.
func failedOn(o *object) error {
	r := *errFailed
	r.object = o
	return &r
}

// refusalOf is err as a worker sees it.
func refusalOf(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	r := *errInternal
	if e, ok := errors.AsType[*svc.Error](err); ok {
		r.text = e.Detail
	} else {
		r.text += " (" + err.Error() + ")"
	}
	return &r
}

// wireError is the header in which workerd finds an error.
type wireError struct {
	Version int    `json:"version"`
	Code    int    `json:"v4code"`
	Message string `json:"message"`
}

// fail answers with err. The body of the request must have been read.
func fail(w http.ResponseWriter, err error) {
	r := refusalOf(err)
	head, err := json.Marshal(wireError{1, r.code, r.text})
	if err != nil { // numbers and a string always encode
		head = nil
	}
	h := w.Header()
	h["Cf-R2-Error"] = []string{string(head)}
	var body []byte
	if r.object != nil {
		if body, err = json.Marshal(r.object.wire()); err != nil {
			body = nil
		}
		h["Cf-R2-Metadata-Size"] = []string{strconv.Itoa(len(body))}
		h["Content-Type"] = []string{"application/json"}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(r.status)
	_, _ = w.Write(body) // a lost connection is workerd's to report
}
