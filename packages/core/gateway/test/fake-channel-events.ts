/** What programs on this machine posted, and nothing done about it. */
import { type ErrorCode, SvcError } from "@svc/contract";
import type { ChannelEvents, PostedAnswer, PostedEvent } from "@svc/sop";

export class FakeChannelEvents implements ChannelEvents {
  readonly posted: PostedEvent[] = [];
  skipped: readonly string[] = [];
  /** As long as it is set, nothing is taken. */
  fails: ErrorCode | undefined;
  unforeseen: Error | undefined;

  async post(event: PostedEvent): Promise<PostedAnswer> {
    await Promise.resolve();
    if (this.unforeseen) throw this.unforeseen;
    if (this.fails) throw new SvcError(this.fails);
    this.posted.push(event);
    return { eventId: `boot-${this.posted.length}`, skipped: this.skipped };
  }
}
