/** Who made a browser ask. The door has refused every Origin that is not ours, and takes requests without one. */
import type { IncomingHttpHeaders } from "node:http";

/** A page of ours in a browser, which tells where it is from; one that also tells how the two are related says that they are one. */
export const isOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined && isNobodyElses(headers);

/** A page of ours, or no browser at all: `Sec-Fetch-Site` can't be left out or made up by a page. */
export const isNobodyElses = ({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean =>
  site === undefined || site === "same-origin";
