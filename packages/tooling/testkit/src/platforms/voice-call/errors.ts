/** Errors of the REST API. https://www.twilio.com/docs/api/errors */
import type { PlatformReply } from "../base.ts";

export class VoiceError extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const errorReply = ({ status, code, message }: VoiceError): PlatformReply => ({
  status,
  json: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

export const notFound = (path: string): VoiceError =>
  new VoiceError(404, 20404, `The requested resource ${path} was not found`);
