/** A call as the platform keeps it. https://www.twilio.com/docs/voice/api/call-resource */
import type { Json } from "@svc/contract";

export type CallStatus =
  | "queued"
  | "ringing"
  | "in-progress"
  | "completed"
  | "busy"
  | "failed"
  | "no-answer"
  | "canceled";

export const isOverStatus = (status: CallStatus): boolean => !["queued", "ringing", "in-progress"].includes(status);

export interface CallResource {
  readonly sid: string;
  readonly to: string;
  readonly from: string;
  readonly direction: "inbound" | "outbound-api";
  readonly createdMs: number;
  status: CallStatus;
  answeredMs: number | undefined;
  endedMs: number | undefined;
  statusCallback: string | undefined;
  statusCallbackEvents: readonly string[];
  timeLimitSecs: number | undefined;
}

export const callJson = (account: string, call: CallResource): Json => ({
  sid: call.sid,
  account_sid: account,
  parent_call_sid: null,
  to: call.to,
  from: call.from,
  status: call.status,
  direction: call.direction,
  date_created: rfc2822(call.createdMs),
  date_updated: rfc2822(call.endedMs ?? call.answeredMs ?? call.createdMs),
  start_time: rfc2822(call.answeredMs),
  end_time: rfc2822(call.endedMs),
  duration: call.endedMs === undefined ? null : String(durationSecs(call)),
  answered_by: null,
  api_version: "2010-04-01",
  price: null,
  price_unit: "USD",
  uri: `/2010-04-01/Accounts/${account}/Calls/${call.sid}.json`,
});

export const durationSecs = ({ answeredMs, endedMs }: CallResource): number =>
  answeredMs === undefined || endedMs === undefined ? 0 : Math.round((endedMs - answeredMs) / 1000);

const rfc2822 = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toUTCString().replace("GMT", "+0000");
