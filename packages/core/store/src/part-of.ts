/** W3C `traceparent` of what the change that runs now is part of; undefined: nobody traces. */
export type PartOf = () => string | undefined;
