// What cloudflare:email exports. workerd has the module without its class.
class EmailMessage {
  constructor(from, to, raw) {
    this.from = from;
    this.to = to;
    Object.defineProperty(this, "EmailMessage::raw", { value: raw });
  }
}

export default { EmailMessage };
