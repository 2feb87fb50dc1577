/** What every connection to the brokers is made with. */
export interface ClientOptions {
  readonly clientId: string;
  /** `host:port` each. */
  readonly bootstrapBrokers: string[];
  readonly tls?: TlsOptions;
  readonly sasl?: SaslOptions;
  /** How long a broker may take to answer, in ms. A join waits for the other members. */
  readonly requestTimeout?: number;
}

/** PEM texts. Without `ca`, the authorities that Node knows. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface SaslOptions {
  readonly mechanism: SaslMechanism;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
}

export const SASL_MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] as const;

export type SaslMechanism = (typeof SASL_MECHANISMS)[number];
