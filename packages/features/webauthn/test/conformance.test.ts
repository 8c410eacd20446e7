// What every feature and every feature of kind auth keeps, with an authenticator in software.
import type { Json } from "@svc/contract";
import { authConformance } from "@svc/testkit/conformance/auth-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import type { CreationOptionsJson, RequestOptionsJson } from "@svc/testkit/webauthn/json";
import definition from "../src/index.ts";
import { OPEN, ORIGIN, SECTION } from "./fixture.ts";

const root = `${import.meta.dirname}/..`;

featureConformance(definition, { root, config: OPEN });

const path = (name: string): string => `/api/webauthn/${name}`;
let people = 0;

authConformance(definition, {
  root,
  config: SECTION,
  openConfig: OPEN,
  origin: ORIGIN,
  person: () => ({ userId: `person-${(people += 1)}`, authenticator: new SoftAuthenticator() }),
  enrol: {
    start: { path: path("register/start"), body: ({ userId }) => ({ user_id: userId, user_name: userId }) },
    finish: {
      path: path("register/finish"),
      body: ({ authenticator }, options) =>
        authenticator.create(options as unknown as CreationOptionsJson, ORIGIN) as unknown as Json,
    },
  },
  signIn: {
    start: { path: path("auth/start"), body: () => ({}) },
    finish: {
      path: path("auth/finish"),
      body: ({ authenticator }, options) =>
        authenticator.get(options as unknown as RequestOptionsJson, ORIGIN) as unknown as Json,
    },
  },
  secretsOf: ({ authenticator }) => authenticator.credentials.map(({ key }) => key.cose.toString("base64url")),
});
