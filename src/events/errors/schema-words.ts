/**
 * Every code, type and format in the issues of schema libraries: zod 3 and 4, valibot 1, ajv 8, joi 18, yup 1,
 * arktype 2. An issue may come from any code, so other words are not shown.
 */
const LISTS = [
  // Types, and the names of JavaScript classes.
  `any array bigint binary blob boolean date enum file float function instance int integer intersect lazy literal
  map mixed nan never nonoptional null nullable nullish number object optional picklist promise record set string
  stringbool symbol template_literal tuple undefined union unknown variant void
  Array Blob Date File Function Map NaN Object Promise Set`,
  // Formats, and checks of texts.
  `alphanum base64 base64url bic byte cidr cidrv4 cidrv6 credit_card cuid cuid2 currency_code date-time datetime
  datetime_offset datetime_precision decimal digits domain double duration e164 email emoji ends_with excludes
  float32 float64 guid hash hex hex_color hexadecimal hostname iban idn-email idn-hostname imei includes int32 int64
  ip ipv4 ipv6 isbn iso-date-time iso-time iso_date iso_date_time iso_date_time_second iso_time iso_time_second
  iso_timestamp iso_week isrc json-pointer json-pointer-uri-fragment json_string jws_compact jwt ksuid lowercase mac
  mac48 mac64 mime_type nanoid octal password pattern regex relative-json-pointer rfc_email safe_integer safeint slug
  starts_with string_case time trim uint32 uint64 ulid uppercase uri uri-reference uri-template url uuid uuidv4 uuidv6
  uuidv7 xid`,
  // zod's codes.
  `custom invalid_arguments invalid_date invalid_element invalid_enum_value invalid_format
  invalid_intersection_types invalid_key invalid_literal invalid_return_type invalid_string invalid_type
  invalid_union invalid_union_discriminator invalid_value not_finite not_multiple_of too_big too_small
  unrecognized_keys`,
  // valibot's types.
  `bytes check check_items code_points empty entries every_item exact_optional finite graphemes gt_value
  length loose_object loose_tuple lt_value max_bytes max_code_points max_entries max_graphemes max_length max_size
  max_value max_words min_bytes min_code_points min_entries min_graphemes min_length min_size min_value min_words
  multiple_of non_empty non_nullable non_nullish non_optional not_bytes not_code_points not_entries not_graphemes
  not_length not_size not_value not_values not_words object_with_rest partial_check raw_check raw_transform size
  some_item strict_object strict_tuple tuple_with_rest undefinedable value values words`,
  // ajv's keywords.
  `additionalItems additionalProperties allOf anyOf const contains dependencies dependentRequired dependentSchemas
  discriminator exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength maxProperties
  maximum minContains minItems minLength minProperties minimum multipleOf not oneOf patternProperties prefixItems
  properties propertyNames required type unevaluatedItems unevaluatedProperties uniqueItems`,
  // joi's types.
  `alternatives.all alternatives.any alternatives.match alternatives.one alternatives.types any.custom any.default
  any.failover any.invalid any.only any.ref any.required any.unknown array.base array.excludes array.hasKnown
  array.hasUnknown array.includes array.includesRequiredBoth array.includesRequiredKnowns
  array.includesRequiredUnknowns array.length array.max array.min array.orderedLength array.sort
  array.sort.mismatching array.sort.unsupported array.sparse array.unique binary.base binary.length binary.max
  binary.min boolean.base date.base date.format date.format.iso date.format.javascript date.format.unix date.greater
  date.less date.max date.min function.arity function.class function.maxArity function.minArity link.depth
  link.maxRecursion number.base number.greater number.infinity number.integer number.less number.max number.min
  number.multiple number.negative number.port number.positive number.precision number.unsafe object.and
  object.assert object.base object.instance object.length object.max object.min object.missing object.nand
  object.oxor object.pattern.match object.refType object.regex object.rename.multiple object.rename.override
  object.schema object.unknown object.with object.without object.xor string.alphanum string.base string.base64
  string.creditCard string.dataUri string.domain string.email string.empty string.guid string.hex string.hexAlign
  string.hostname string.ip string.ipVersion string.isoDate string.isoDuration string.length string.lowercase
  string.max string.min string.normalize string.pattern.base string.pattern.invert.base string.pattern.invert.name
  string.pattern.name string.token string.trim string.uppercase string.uri string.uriCustomScheme
  string.uriRelativeOnly symbol.base symbol.map`,
  // yup's types.
  `defined exact is-value lessThan matches max min moreThan negative noUnknown notOneOf optionality positive
  strict typeError`,
  // arktype's codes.
  `after before divisor domain exactLength index intersection predicate proto sequence structure undeclared unit`,
];

const WORDS: ReadonlySet<unknown> = new Set(LISTS.flatMap((list) => list.split(/\s+/)));

/** Whether a value is a word of a schema library. Such a word may be shown to a model. */
export function isSchemaWord(value: unknown): value is string {
  return WORDS.has(value);
}
