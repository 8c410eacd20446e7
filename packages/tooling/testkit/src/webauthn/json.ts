/** WebAuthn as JSON, as far as a test needs it: https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON */

export interface CreationOptionsJson {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string; readonly name: string };
  readonly pubKeyCredParams: readonly { readonly alg: number }[];
  readonly excludeCredentials?: readonly { readonly id: string }[];
  readonly authenticatorSelection?: { readonly userVerification?: string; readonly residentKey?: string };
}

export interface RequestOptionsJson {
  readonly challenge: string;
  readonly rpId: string;
  readonly userVerification?: string;
  readonly allowCredentials?: readonly { readonly id: string }[];
}

interface ResponseJson<Response> {
  id: string;
  rawId: string;
  type: string;
  response: Response;
  clientExtensionResults: Record<string, unknown>;
  authenticatorAttachment?: string;
}

export type RegistrationJson = ResponseJson<{
  clientDataJSON: string;
  attestationObject: string;
  transports?: string[];
  publicKeyAlgorithm?: number;
  authenticatorData?: string;
}>;

export type AssertionJson = ResponseJson<{
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
  userHandle?: string;
}>;
