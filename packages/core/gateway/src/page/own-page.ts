/** Who made a browser ask. The door has refused every Origin that is not ours, and takes requests without one. */
import type { IncomingHttpHeaders } from "node:http";

/** A page of ours in a browser, which tells where it is from; one that also tells how the two are related says that they are one. */
export const isOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined && isNobodyElses(headers);

/** The same of a request that may come without an Origin: a browser sends none with a GET of its own page. */
export const isSurelyOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers["sec-fetch-site"] === "same-origin" || isOwnPage(headers);

/** A page of ours, or no browser at all: `Sec-Fetch-Site` can't be left out or made up by a page. */
export const isNobodyElses = ({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean =>
  site === undefined || site === "same-origin";
