package objects

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// request is what workerd's binding sends. Fields that a method does not have
// are empty.
type request struct {
	Method       string          `json:"method"`
	Object       *string         `json:"object"`
	Objects      []string        `json:"objects"` // delete
	CustomFields []customField   `json:"customFields"`
	HTTPFields   *httpFields     `json:"httpFields"`
	StorageClass string          `json:"storageClass"`
	SSEC         json.RawMessage `json:"ssec"`
	OnlyIf       *condition      `json:"onlyIf"`
	MD5          []byte          `json:"md5"` // base64; the others are hex
	SHA1         *string         `json:"sha1"`
	SHA256       *string         `json:"sha256"`
	SHA384       *string         `json:"sha384"`
	SHA512       *string         `json:"sha512"`
	Range        *wireRange      `json:"range"`
	RangeHeader  *string         `json:"rangeHeader"`

	Limit      *int    `json:"limit"`
	Prefix     string  `json:"prefix"`
	Cursor     *string `json:"cursor"`
	Delimiter  string  `json:"delimiter"`
	StartAfter string  `json:"startAfter"`
	Include    []int   `json:"include"`

	UploadID   string     `json:"uploadId"`
	PartNumber int        `json:"partNumber"`
	Parts      []wirePart `json:"parts"`
}

// key is the object that the request names.
func (q *request) key() (string, error) {
	if q.Object == nil {
		return "", errInvalidRequest
	}
	return *q.Object, checkKey(*q.Object)
}

type customField struct {
	K string `json:"k"`
	V string `json:"v"`
}

type httpFields struct {
	ContentType        *string  `json:"contentType,omitempty"`
	ContentLanguage    *string  `json:"contentLanguage,omitempty"`
	ContentDisposition *string  `json:"contentDisposition,omitempty"`
	ContentEncoding    *string  `json:"contentEncoding,omitempty"`
	CacheControl       *string  `json:"cacheControl,omitempty"`
	CacheExpiry        *integer `json:"cacheExpiry,omitempty"` // milliseconds since 1970
}

type wireRange struct {
	Offset *integer `json:"offset,omitempty"`
	Length *integer `json:"length,omitempty"`
	Suffix *integer `json:"suffix,omitempty"`
}

type wirePart struct {
	ETag string `json:"etag"`
	Part int    `json:"part"`
}

// integer is a 64-bit number, which JSON may have as a string.
type integer int64

// UnmarshalJSON reads a number or a string of one.
func (i *integer) UnmarshalJSON(text []byte) error {
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no 64-bit number", text)
	}
	*i = integer(n)
	return nil
}

// wireObject is what workerd's binding reads.
type wireObject struct {
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	Size         int64           `json:"size"`
	ETag         string          `json:"etag"`
	Uploaded     int64           `json:"uploaded"` // milliseconds since 1970
	HTTPFields   json.RawMessage `json:"httpFields"`
	CustomFields json.RawMessage `json:"customFields"`
	Range        *wireSpan       `json:"range,omitempty"`
	Checksums    wireDigests     `json:"checksums"`
	StorageClass string          `json:"storageClass"`
}

// wireDigests are checksums in hex, "" if absent.
type wireDigests struct {
	MD5    string `json:"0,omitempty"`
	SHA1   string `json:"1,omitempty"`
	SHA256 string `json:"2,omitempty"`
	SHA384 string `json:"3,omitempty"`
	SHA512 string `json:"4,omitempty"`
}

type wireSpan struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// What a page of a listing may show.
const (
	includeHTTP   = 0
	includeCustom = 1
)

// wireListing is a page as workerd's binding reads it.
type wireListing struct {
	Objects   []wireObject `json:"objects"`
	Truncated bool         `json:"truncated"`
	Cursor    string       `json:"cursor,omitempty"`
	Prefixes  []string     `json:"delimitedPrefixes"`
}
