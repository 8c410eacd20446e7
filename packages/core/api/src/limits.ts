/** What schemas say and the service checks by itself, too. Apart from the schemas, so that a start does not evaluate them. */

/** Characters of a title that a person gives, and of every one that is shown. */
export const TITLE_CHARS = 120;

/** Of one message. */
export const MAX_FILES = 20;

export const EXPORT_FORMATS = ["markdown", "json"] as const;
