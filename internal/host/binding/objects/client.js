// A bucket of a worker is workerd's own object. Its calls on one key run in the order in
// which the worker made them. An upload is apart from its object until it is completed.
import { keepOrder, replace } from "svc-internal:order";

const METHODS = { reads: ["get", "head"], writes: ["put", "delete"], lists: ["list"] };
const UPLOAD_METHODS = { writes: ["complete"], keyOf: (upload) => upload.key };

export default function makeBinding({ bucket, resource }) {
  const keep = (upload) => keepOrder(upload, resource, UPLOAD_METHODS);
  keepOrder(bucket, resource, METHODS);
  replace(bucket, "createMultipartUpload", (method, self, args) => Reflect.apply(method, self, args).then(keep));
  replace(bucket, "resumeMultipartUpload", (method, self, args) => keep(Reflect.apply(method, self, args)));
  return bucket;
}
