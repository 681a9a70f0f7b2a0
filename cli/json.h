/* SPDX-License-Identifier: MIT
 *
 * JSON results, on top of cJSON.
 */
#ifndef MXQ_CLI_JSON_H
#define MXQ_CLI_JSON_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include <mxq/status.h>

/* New objects and arrays, and fields of them; they end the program when memory is out. */
cJSON *json_object(void);
cJSON *json_array(void);
void json_add(cJSON *object, const char *key, cJSON *value); /* a NULL key: to an array */
void json_add_string(cJSON *object, const char *key, const char *value); /* NULL gives null */
/* Written with all digits, also above 2^53. */
void json_add_integer(cJSON *object, const char *key, int64_t value);
/* Infinities and NaN, which JSON lacks, become null. */
void json_add_number(cJSON *object, const char *key, double value);
void json_add_bool(cJSON *object, const char *key, int value);
void json_add_numbers(cJSON *object, const char *key, const uint64_t *values, size_t count);

/* Prints the value and a newline on standard output and deletes it. */
void json_print(cJSON *value);

/* Reads a JSON file of at most `most` bytes. MXQ_IO_ERROR names the file. */
enum mxq_status json_read_file(const char *path, size_t most, cJSON **value);

#endif
