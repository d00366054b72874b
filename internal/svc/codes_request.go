package svc

// The codes of requests that are rejected for their form.
const (
	CodeUnauthorized          = "unauthorized"
	CodeForbidden             = "forbidden"
	CodeHostNotAllowed        = "host_not_allowed"
	CodePathNotFound          = "path_not_found"
	CodeMethodNotAllowed      = "method_not_allowed"
	CodeTimeout               = "timeout"
	CodeInternal              = "internal"
	CodeDiskFull              = "disk_full"
	CodeBodyRequired          = "body_required"
	CodeBodyIncomplete        = "body_incomplete"
	CodeBodyTooLarge          = "body_too_large"
	CodeLengthRequired        = "length_required"
	CodeInvalidJSON           = "invalid_json"
	CodeInvalidType           = "invalid_type"
	CodeUnknownField          = "unknown_field"
	CodeInvalidParameter      = "invalid_parameter"
	CodeInvalidQuery          = "invalid_query"
	CodeUnknownParameter      = "unknown_parameter"
	CodeInvalidInclude        = "invalid_include"
	CodeInvalidStatus         = "invalid_status"
	CodeInvalidCursor         = "invalid_cursor"
	CodeCursorExpired         = "cursor_expired"
	CodeInvalidLimit          = "invalid_limit"
	CodeInvalidTail           = "invalid_tail"
	CodeInvalidEvent          = "invalid_event"
	CodeInvalidIdempotencyKey = "invalid_idempotency_key"
	CodeIdempotencyMismatch   = "idempotency_mismatch"
	CodeETagMismatch          = "etag_mismatch"
)

//nolint:gochecknoglobals // a constant table
var requestCodes = []CodeInfo{
	{CodeUnauthorized, []Kind{Unauthorized}, "The request has no token, or one that the service does not know.", "Send the header Authorization: Bearer with a valid token."},
	{CodeForbidden, []Kind{Forbidden}, "The token's role does not allow this operation.", "Use the token that the hint names."},
	{CodeHostNotAllowed, []Kind{Forbidden}, "The Host header names a host that the API is not served under.", "Set SVC_API_URL to the API's public URL, or add the name to SVC_API_HOSTS."},
	{CodePathNotFound, []Kind{NotFound}, "The API has nothing at this path.", "Compare the path with GET /v1/openapi.json."},
	{CodeMethodNotAllowed, nil, "The path exists, but not with this method (HTTP 405).", "Use a method of the header Allow."},
	{CodeTimeout, []Kind{Unavailable}, "The service did not answer in time, or a wait reached its --timeout.", "Try again; read GET /v1/health/deep if it continues."},
	{CodeInternal, []Kind{Internal}, "The service failed.", "Look up the request_id in the service's log."},
	{CodeDiskFull, []Kind{Unavailable}, "The disk of the server is full; nothing was stored.", "Free disk space in the server's data directory."},
	{CodeBodyRequired, []Kind{BadRequest}, "The operation needs a body, and the request has none.", "Send the body that the operation describes."},
	{CodeBodyIncomplete, []Kind{BadRequest}, "The body ended early or arrived too slowly.", "Send the request again."},
	{CodeBodyTooLarge, []Kind{TooLarge}, "The body exceeds the limit of the operation.", "Send less in one request."},
	{CodeLengthRequired, []Kind{BadRequest}, "The length of an upload must be known beforehand.", "Send Content-Length."},
	{CodeInvalidJSON, []Kind{BadRequest}, "The body is not the JSON that the operation expects.", "Correct the body."},
	{CodeInvalidType, []Kind{BadRequest}, "A field has a value of the wrong type.", "Correct the field that errors[].pointer names."},
	{CodeUnknownField, []Kind{BadRequest}, "The body has a field that the operation does not know.", "Remove the field that errors[].pointer names, or correct its name."},
	{CodeInvalidParameter, []Kind{BadRequest}, "A parameter of the URL or a header is malformed, out of range, or repeated.", "Correct the parameter."},
	{CodeInvalidQuery, []Kind{BadRequest}, "The query string of the URL is malformed.", "Escape the parameters of the URL."},
	{CodeUnknownParameter, []Kind{BadRequest}, "The URL has a parameter that the operation does not know.", "Use the parameters that the hint lists."},
	{CodeInvalidInclude, []Kind{BadRequest}, "The parameter include has an unknown value.", "Use include=versions, or omit it."},
	{CodeInvalidStatus, []Kind{BadRequest}, "The parameter status is not a status of versions.", "Use a status that the hint lists."},
	{CodeInvalidCursor, []Kind{BadRequest}, "The cursor does not belong to this list with these filters.", "Start again without a cursor."},
	{CodeCursorExpired, []Kind{Gone}, "The events after the cursor are no longer kept: the service keeps them for an hour.", "Read the lists again, and continue without a cursor."},
	{CodeInvalidLimit, []Kind{BadRequest}, "The parameter limit is not a number in the allowed range.", "Use a number in the range that the error names."},
	{CodeInvalidTail, []Kind{BadRequest}, "The parameter tail is not a number in the allowed range.", "Use a number in the range that the error names."},
	{CodeInvalidEvent, []Kind{Unprocessable}, "A field of the event is out of range.", "Correct the field that the error names."},
	{CodeInvalidIdempotencyKey, []Kind{BadRequest}, "The Idempotency-Key is not 1 to 255 printable ASCII characters.", "Use a valid key, such as a UUID."},
	{CodeIdempotencyMismatch, []Kind{Unprocessable}, "The Idempotency-Key was already used with a different body.", "Use a new key for a new request."},
	{CodeETagMismatch, []Kind{Precondition}, "The version or its project changed since the ETag in If-Match.", "Read it again and retry with its current ETag."},
}
