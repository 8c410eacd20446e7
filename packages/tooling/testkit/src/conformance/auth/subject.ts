/** What a package of kind `auth` hands to its suite: how a person enrols with it, and how they sign in. */
import type { FeatureDefinition, Json } from "@svc/contract";
import type { Section } from "../channel/subject.ts";

export interface AuthSubject<Person = unknown> {
  /** The package's folder. */
  readonly root: string;
  /** A valid section in which nothing is open to strangers. */
  readonly config: Section;
  /** One in which a stranger can sign in. */
  readonly openConfig: Section;
  /** `gateway.public_url`. */
  readonly publicUrl?: string;
  /** `Origin` of the requests. */
  readonly origin?: string;
  /** A new person, with the credential that they sign in with. */
  readonly person: () => Person;
  readonly enrol: Ceremony<Person>;
  readonly signIn: Ceremony<Person>;
  /** What must stand in no answer and in no line of the log. */
  readonly secretsOf: (person: Person) => readonly string[];
}

/** Two requests: the second proves something about what the first one answered. */
export interface Ceremony<Person = unknown> {
  readonly start: { readonly path: string; readonly body: (person: Person) => Json };
  readonly finish: {
    readonly path: string;
    /** What the person sends, having been answered that. */
    readonly body: (person: Person, started: Json) => Json;
  };
}

export interface AuthBench {
  readonly definition: FeatureDefinition;
  readonly subject: AuthSubject;
}

/** As long as no ceremony may take. */
export const TOO_LATE_MS = 60 * 60_000;
