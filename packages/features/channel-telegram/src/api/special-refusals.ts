/** Refusals after which the channel itself goes on. To whoever does not look, each is a message that was refused. */
import { SvcError } from "@svc/contract";

/** A group became a supergroup: it has another id now. https://core.telegram.org/bots/api#responseparameters */
export class Migrated extends SvcError {
  readonly toChatId: number;

  constructor(toChatId: number) {
    super("DELIVERY_REFUSED", "This group has become a supergroup, and has another id.");
    this.toChatId = toChatId;
  }
}

/** The platform could not read the text as HTML. */
export class BadFormatting extends SvcError {
  constructor() {
    super("DELIVERY_REFUSED", "The platform can't read the formatting of the text.");
  }
}

/** An edit that would change nothing. */
export class NotModified extends SvcError {
  constructor() {
    super("DELIVERY_REFUSED", "The message says that already.");
  }
}

/** It is no picture, sound or film as the platform wants one: a document it may be all the same. */
export class BadFile extends SvcError {
  constructor() {
    super("DELIVERY_REFUSED", "The platform can't read the file as what it is sent as.");
  }
}
