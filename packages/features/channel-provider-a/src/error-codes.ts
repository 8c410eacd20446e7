/**
 * The platform's error numbers, those that a conversation can meet.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
export interface PlatformError {
  /**
   * DELIVERY_REFUSED: this message would be refused again. DELIVERY_FAILED: it may be taken later, perhaps once somebody
   * has seen to the account.
   */
  readonly means: "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED";
  /** Without the full stop. */
  readonly sentence: string;
  readonly hint?: string;
  /** Where the documents say how long. */
  readonly waitMs?: number;
}

const refused = (sentence: string, hint?: string): PlatformError => ({
  means: "DELIVERY_REFUSED",
  sentence,
  ...(hint !== undefined && { hint }),
});
const failed = (sentence: string, waitMs?: number): PlatformError => ({
  means: "DELIVERY_FAILED",
  sentence,
  ...(waitMs !== undefined && { waitMs }),
});
const account = (sentence: string): PlatformError => ({
  means: "DELIVERY_FAILED",
  sentence,
  hint: "See to the account on the platform, then: svc inbox replay",
});
const unauthorized = (sentence: string): PlatformError => ({ means: "CHANNEL_UNAUTHORIZED", sentence });

const NO_PERMISSION = unauthorized("The access token lacks a permission");
const BAD_REQUEST = refused("The platform refuses a field of the request");

export const ERROR_CODES: ReadonlyMap<number, PlatformError> = new Map([
  // The token
  [0, unauthorized("The platform could not authenticate the access token")],
  [3, NO_PERMISSION],
  [10, NO_PERMISSION],
  [190, unauthorized("The access token has expired or was withdrawn")],
  [131005, NO_PERMISSION],

  // The account
  [33, unauthorized("The business phone number was deleted")],
  [368, account("The platform has blocked the business account for a time")],
  [130497, refused("The business account may not write to people in this country")],
  [131031, account("The platform has locked the business account")],
  [131037, account("The display name of the business phone number is not approved yet")],
  [131042, account("The business account has a problem with its payment method")],
  [131045, account("The business phone number has no valid certificate")],
  [131057, failed("The business account is in maintenance", 60_000)],
  [133010, account("The business phone number is not registered for the API")],

  // Too much at once
  [4, failed("The app has reached its limit of API calls", 60_000)],
  [80007, failed("The business account has reached its rate limit", 60_000)],
  [130429, failed("The phone number sends faster than it may")],
  [131048, failed("The phone number may not send for a time, because people blocked or reported it", 300_000)],
  // One message in six seconds to one person, after a burst.
  [131056, failed("Too many messages to one person in a short time", 6_000)],

  // The moment
  [1, failed("The platform failed for a reason it does not know")],
  [2, failed("The platform is down or overloaded")],
  [131000, failed("Something went wrong at the platform")],
  [131016, failed("The platform is not available for a moment")],
  [133004, failed("The platform's server is not available for a moment")],

  // The message
  [100, BAD_REQUEST],
  [131008, BAD_REQUEST],
  [131009, BAD_REQUEST],
  [130472, refused("The platform withholds the message: this person is in an experiment of its")],
  [131021, refused("The message is addressed to the business phone number itself")],
  [
    131026,
    refused(
      "It can't be delivered: the number is not on the platform, uses an old app, or has not agreed to its terms",
    ),
  ],
  [
    131030,
    refused(
      "The number is not on the test number's list of recipients",
      "Add it in the app dashboard, under API Setup.",
    ),
  ],
  [131047, refused("More than 24 hours have passed since this person last wrote, and only templates may be sent then")],
  [131049, refused("The platform chose not to deliver it, to keep people's chats healthy")],
  [131050, refused("This person does not want marketing messages of this business")],
  [131051, refused("The platform does not take messages of this type")],
  [131052, refused("The platform could not fetch the file")],
  [131053, refused("The platform could not read the file")],
  [131062, refused("This message can only be sent to a phone number, not to a user id")],
]);
