import type { Postings } from "../fixture/poster.ts";

/** While the daemon is up and its disk takes everything, every delivery is acknowledged, and at the first attempt. */
export const unacknowledged = (postings: Postings): string[] =>
  [...postings.values()].flatMap(({ delivery, statuses }) => {
    const status = statuses.find((one) => one !== 200);
    return status === undefined
      ? []
      : [`${delivery.messages[0]!.label} was answered ${status} while nothing was wrong`];
  });
