import { generateKeyPairSync, sign } from "node:crypto";

/** What a TLS server on this machine needs, and whoever is to trust it. */
export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for 127.0.0.1 that its own key has signed, made anew: X.509 in DER, in PEM. */
export function selfSigned(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = der(0x30, der(0x31, der(0x30, oid("550403"), der(0x0c, Buffer.from("test")))));
  const ecdsaWithSha256 = der(0x30, oid("2a8648ce3d040302"));
  // subjectAltName: iPAddress 127.0.0.1
  const altName = der(0x30, oid("551d11"), der(0x04, der(0x30, der(0x87, hex("7f000001")))));
  const content = der(
    0x30,
    der(0xa0, der(0x02, hex("02"))), // version 3
    der(0x02, hex("01")), // serial number
    ecdsaWithSha256,
    name, // issuer
    der(0x30, der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z"))),
    name, // subject
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, altName)),
  );
  const signature = Buffer.concat([hex("00"), sign("sha256", content, privateKey)]);
  const whole = der(0x30, content, ecdsaWithSha256, der(0x03, signature));
  const lines = whole.toString("base64").replace(/(.{64})/g, "$1\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, "hex");
}

function oid(digits: string): Buffer {
  return der(0x06, hex(digits));
}

/** Tag, length and content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}
