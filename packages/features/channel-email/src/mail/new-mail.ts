import type { Headers } from "@svc/kit/mail";
import type { Session } from "../imap/session.ts";

/** A mail of which only the header was fetched. */
export interface NewMail {
  /** Where the rest of it is. */
  readonly session: Session;
  readonly uid: number;
  readonly uidValidity: string;
  readonly headers: Headers;
  /** When the server got it, milliseconds since the epoch. */
  readonly cameMs: number | undefined;
}
