/** The channel's loop: what is new is read, and then what is new is waited for. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { asFinal } from "@svc/kit";
import type { Account } from "../account/account.ts";
import { openSession } from "../imap/session.ts";
import type { InboundOf } from "../mail/inbound.ts";
import type { Smtp } from "../send/smtp.ts";
import type { HeaderReader } from "./header-reader.ts";
import { sync } from "./sync.ts";

export interface Loop {
  readonly account: Account;
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  readonly smtp: Pick<Smtp, "check">;
  readonly headers: HeaderReader;
  readonly inboundOf: InboundOf;
}

/** Throws REMOTE_* when the connection is lost, to be called again; FEATURE_FAILED when the credentials are refused. */
export async function runLoop(
  { account, context, smtp, headers, inboundOf }: Loop,
  signal: AbortSignal,
): Promise<void> {
  const { config, log, address } = account;
  signal.throwIfAborted();
  try {
    const session = await openSession(account, config.mailbox, signal);
    try {
      await checkSmtp(smtp, context, signal);
      log.info("the platform knows this channel", { account: address, push: session.hasIdle });
      for (;;) {
        await sync({ context, of: `${address} ${config.mailbox}`, headers, inboundOf }, session, signal);
        await session.news(signal);
      }
    } finally {
      session.close();
    }
  } catch (error) {
    if (signal.aborted) return;
    throw asFinal(error);
  }
}

/** A password that one of the servers refuses is told at once; a server that is away does not stop the reading. */
async function checkSmtp(smtp: Loop["smtp"], { log }: Loop["context"], signal: AbortSignal): Promise<void> {
  try {
    await smtp.check(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SvcError) || error.code === "CHANNEL_UNAUTHORIZED") throw error;
    log.warn("The SMTP server can't be asked now; mail is read all the same.", { reason: error.code });
  }
}
