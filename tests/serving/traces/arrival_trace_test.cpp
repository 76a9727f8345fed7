#include "serving/traces/arrival_trace.hpp"

#include <doctest/doctest.h>

#include <string>

#include "experiments/base/format/config_error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Trace trace_in(const std::string& text, std::optional<TimeUnit> unit = {}) {
  return read_trace(TempFile(text).path(), unit);
}

double rate_in(const std::string& text, std::optional<TimeUnit> unit = {}) {
  return trace_rate(trace_in(text, unit));
}

/// Returns the message without the file's name.
std::string trace_refusal(const std::string& text, std::optional<TimeUnit> unit = {}) {
  const TempFile file(text);
  try {
    read_trace(file.path(), unit);
  } catch (const UsageError& error) {
    const std::string said = error.what();
    CHECK(said.starts_with(file.path().string()));
    return said.substr(file.path().string().size());
  }
  return "";
}

}  // namespace

TEST_CASE("traces are read in their published forms") {
  const Trace azure = trace_in(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-12-31 23:59:59.5000000,374,44\n"
      "2024-01-01 00:00:01.7500000,396,0\n");
  REQUIRE(azure.size() == 2);
  CHECK(azure[0].arrival_ms == 0);
  CHECK(azure[1].arrival_ms == doctest::Approx(2250));
  CHECK(azure[0].prompt == 374);
  CHECK(azure[1].output == 1);
  const Trace zoned = trace_in(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10T00:00:00.5+00:00,1,2\n2024-05-10 02:00:01+02:00,3,4\n"
      "2024-05-09 17:30:02-06:30,5,6\n2024-05-10T00:00:03Z,7,8\n");
  REQUIRE(zoned.size() == 4);
  for (std::size_t i = 1; i < zoned.size(); ++i)
    CHECK(zoned[i].arrival_ms == doctest::Approx(1000.0 * static_cast<double>(i) - 500));
  const Trace mooncake = trace_in(
      "{\"timestamp\": 3000, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [1]}\n"
      "{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 5}\n");
  CHECK(mooncake[0].prompt == 10);
  CHECK(mooncake[1].arrival_ms == 3000);
  // Alibaba's traces have a chat_id and seconds: 3 gaps in 20 seconds.
  CHECK(rate_in("{\"chat_id\": 0, \"timestamp\": 3.5, \"input_length\": 200, \"output_length\": 50}\n"
                "{\"chat_id\": 1, \"timestamp\": 8.5, \"input_length\": 200, \"output_length\": 50}\n"
                "{\"chat_id\": 2, \"timestamp\": 13.5, \"input_length\": 200, \"output_length\": 50}\n"
                "{\"chat_id\": 3, \"timestamp\": 23.5, \"input_length\": 200, \"output_length\": 50}\n") ==
        doctest::Approx(0.15));
  const Trace burst = trace_in(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "7,a,3,X,200,50,250,chat log\n12,b,1,X,300,60,360,chat log\n27,a,2,Y,400,70,470,api log\n");
  CHECK(trace_rate(burst) == doctest::Approx(0.1));
  CHECK(burst[2].prompt == 400);
  CHECK(burst[1].output == 60);
  const Trace splitwise = trace_in(
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
      "0,2,0,0.25,1,100,10\n1,2,0,0.75,1,90,20\n");
  CHECK(trace_rate(splitwise) == doctest::Approx(2));
  CHECK(splitwise[1].prompt == 90);
  CHECK(splitwise[0].output == 10);
  const Trace bench = trace_in(
      "{\"num_prompts\": 3, \"input_lens\": [5, 6, 7],\n \"output_lens\": [2, 3, 4], \"ttfts\": [0.1, 0.1, 0.2],\n"
      " \"start_times\": [100.5, 100.0, 102.0]}\n");
  REQUIRE(bench.size() == 3);
  CHECK(trace_rate(bench) == doctest::Approx(1));
  CHECK(bench[0].prompt == 6);
  CHECK(bench[2].output == 4);
  CHECK(rate_in("arrived_at,num_prefill_tokens,num_decode_tokens\n0,1,2\n2,3,4\n") == doctest::Approx(0.5));
  CHECK(rate_in("0.5,10,3\n1.5,20,4\n") == doctest::Approx(1));
  CHECK(trace_in("output,seconds,prompt\n3,0.5,10\n4,1.5,20\n")[0].prompt == 10);
}

TEST_CASE("the unit of a trace is that of its header, or must be given") {
  for (const char* header : {"arrival_ms,prompt_tokens,output_tokens", "Time (ms),Input tokens,Output tokens",
                             "output_len,input_len,timestamp_milliseconds"}) {
    CAPTURE(header);
    const bool last = std::string(header).starts_with("output");
    CHECK(rate_in(std::string(header) + (last ? "\n1,2,0\n1,2,500\n" : "\n0,1,2\n500,1,2\n")) ==
          doctest::Approx(2));
  }
  const std::string bare = "timestamp,prompt,output\n0,1,2\n4000,3,4\n";
  CHECK(trace_refusal(bare).starts_with(":2: 0: the unit of times is not known; give --trace-unit"));
  CHECK(rate_in(bare, TimeUnit::s) == doctest::Approx(1 / 4000.0));
  CHECK(rate_in(bare, TimeUnit::ms) == doctest::Approx(0.25));
  CHECK(rate_in(bare, TimeUnit::us) == doctest::Approx(250));
  CHECK(rate_in("0,1,2\n4000,3,4\n", TimeUnit::ms) == doctest::Approx(0.25));
  CHECK(trace_refusal("{\"timestamp\": 0, \"input_length\": 2, \"output_length\": 5}\n"
                      "{\"timestamp\": 4, \"input_length\": 2, \"output_length\": 5}\n")
            .find("the unit of times is not known") != std::string::npos);
  CHECK(trace_refusal("arrival_ms,prompt,output\n0,1,2\n4,3,4\n", TimeUnit::s).find("its columns say ms") !=
        std::string::npos);
  CHECK(trace_refusal("time,prompt,output\n2023-11-16 18:17:03,1,2\n2023-11-16 18:17:04,2,3\n", TimeUnit::s)
            .find("need no unit") != std::string::npos);
  CHECK(rate_in("input_toks,output_toks,arrival_time_ns\n1,2,0\n3,4,500000000\n") == doctest::Approx(2));
  CHECK(rate_in("promptTokens,outputTokens,ts_us\n1,2,0\n3,4,500000\n") == doctest::Approx(2));
  // Names of one published trace do not lend their unit to another time.
  CHECK(trace_refusal("arrival_time,request_tokens,response_tokens\n0,1,2\n4,3,4\n")
            .find("the unit of times is not known") != std::string::npos);
  // 20,000 requests per second are refused, unless the unit is given.
  const std::string fast = "time_us,prompt,output\n0,1,2\n50,1,2\n100,3,4\n";
  CHECK(trace_refusal(fast).find("2e+04 requests arrive per second") != std::string::npos);
  CHECK(rate_in(fast, TimeUnit::us) == doctest::Approx(20000));
}

TEST_CASE("records of two traces with two units are refused at the first line of the second") {
  const std::string ms =
      "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 5, \"hash_ids\": [1]}\n"
      "{\"timestamp\": 4000, \"input_length\": 9, \"output_length\": 5, \"hash_ids\": [2]}\n";
  const std::string seconds =
      "{\"chat_id\": 1, \"timestamp\": 5.5, \"input_length\": 9, \"output_length\": 5, \"hash_ids\": [1]}\n"
      "{\"chat_id\": 2, \"timestamp\": 9.5, \"input_length\": 9, \"output_length\": 5, \"hash_ids\": [1]}\n";
  CHECK(rate_in(ms) == doctest::Approx(0.25));
  CHECK(rate_in(seconds) == doctest::Approx(0.25));
  CHECK(trace_refusal(ms + seconds)
            .starts_with(":3: these are the names of a trace in s, below records in ms"));
  CHECK(trace_refusal(seconds + ms)
            .starts_with(":3: these are the names of a trace in ms, below records in s"));
}

TEST_CASE("times since 1970 show their unit, and a rate that no server has is refused") {
  const std::string burst = "Timestamp,Request tokens,Response tokens\n";
  const std::string ms = "1700000000500,10,5\n1700000004500,10,5\n1700000008500,10,5\n";
  CHECK(trace_refusal(burst + ms).starts_with(": its times are in ms since 1970, but were taken for s;"));
  CHECK(trace_refusal(burst + ms, TimeUnit::s).starts_with(": its times are in ms since 1970"));
  CHECK(trace_refusal(ms).starts_with(": its times are in ms since 1970"));
  CHECK(rate_in(ms, TimeUnit::ms) == doctest::Approx(0.25));
  CHECK(rate_in("arrival_ms,prompt,output\n" + ms) == doctest::Approx(0.25));
  CHECK(trace_refusal("arrival_ms,prompt,output\n1700000000,1,2\n1700000004,1,2\n")
            .starts_with(": its times are in s since 1970, but were taken for ms;"));
  CHECK(rate_in("1700000000,1,2\n1700000004,1,2\n") == doctest::Approx(0.25));
  // Answers of OpenAI's interface say when they were created, in seconds.
  CHECK(rate_in("created,prompt_tokens,completion_tokens\n1700000000,1,2\n1700000004,1,2\n") ==
        doctest::Approx(0.25));
  // Milliseconds read as seconds: a request in 4000 s.
  CHECK(trace_refusal(burst + "0,10,5\n4000,10,5\n8000,10,5\n")
            .starts_with(": 0.00025 requests arrive per second, if times are in s; give --trace-unit"));
  CHECK(rate_in(burst + "0,10,5\n4000,10,5\n8000,10,5\n", TimeUnit::s) == doctest::Approx(0.00025));
  CHECK(rate_in("time,prompt,output\n2023-11-16 00:00:00,1,2\n2023-11-16 02:00:00,2,3\n") ==
        doctest::Approx(1 / 7200.0));
}

TEST_CASE("names and cells in quotation marks are read without them") {
  const std::string quoted =
      "\"Timestamp\",\"Model\",\"Request tokens\",\"Response tokens\"\n"
      "1,\"M, new\",10,\"5\"\n\"5\",\"M\",10,5\n";
  CHECK(rate_in(quoted) == doctest::Approx(0.25));
  CHECK(trace_refusal("seconds;prompt;output\n0,5;10;5\n1,5;10;5\n")
            .find("put commas between columns and points before decimals") != std::string::npos);
}

TEST_CASE("a byte order mark of UTF-8 is no part of a trace") {
  const std::string mark = "\xef\xbb\xbf";
  CHECK(rate_in(mark + "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-01 00:00:00.0,200,50\n"
                       "2024-01-01 00:00:10.0,200,50\n2024-01-01 00:00:20.0,200,50\n") ==
        doctest::Approx(0.1));
  CHECK(rate_in(mark + "0.5,10,3\n1.5,20,4\n") == doctest::Approx(1));
  CHECK(rate_in(mark + "{\"arrival_s\": 0, \"input_length\": 2, \"output_length\": 5}\n"
                       "{\"arrival_s\": 4, \"input_length\": 2, \"output_length\": 5}\n") ==
        doctest::Approx(0.25));
  CHECK(trace_refusal("\xff\xfe" + std::string("0\0,\0", 4)).find("UTF-16") != std::string::npos);
}

TEST_CASE("what is no trace is refused, naming the line") {
  for (const auto& [bad, said] : {
           std::pair{"step,n_draft,n_acc\n1,5,3\n2,5,4\n",
                     ":1: none of \"step, n_draft, n_acc\" is the time"},
           {"seconds,prompt\n1,2\n2,3\n", ":1: none of"},
           {"time,arrival,prompt,output\n1,2,3,4\n", ":1: \"time\" and \"arrival\" both name the time"},
           {"", ": 0 requests"},
           {"1,2,3\n", ": 1 requests"},
           {"1,2,3\n1,4,5\n", ": all requests arrive at one time"},
           {"1,2\n2,3\n", ":1: 2 fields; expected seconds,prompt,output"},
           {"time_s,prompt,output\n1,2,3\n1,2\n", ":3: 2 fields; expected 3, as in the header"},
           {"x,1,2\ny,2,3\n", ":1: \"x,1,2\""},
           {"1,2.5,3\n2,2,3\n", ":1: 2.5 tokens"},
           {"1,-2,3\n2,2,3\n", ":1: -2 tokens"},
           {"2023-11-16T,1,2\n2,2,3\n", ":1: "},
           {"2023-11-16 18:17:03,1,2\n2,2,3\n", ":2: 2; expected a time like those above it"},
           {"1,2,3\n1e308,2,3\n", ":2: 1e308; expected a time"},
           {"9e99-11-16 18:17:03,1,2\n2024-11-16 18:17:03,2,3\n", ":1: "},
           {"2023-02-30 18:17:03,1,2\n2024-11-16 18:17:03,2,3\n", ":1: "},
           {"2023-13-16 18:17:03,1,2\n2024-11-16 18:17:03,2,3\n", ":1: "},
           {"arrival_timestamp,batch_size,prompt_size,token_size\n0,1,2,3\n1,2,2,3\n",
            ":3: batch_size 2; expected 1"},
           {"{\"timestamp\": 1}\n{\"timestamp\": 2}\n", ":1: none of"},
           {"{\"arrival_ms\": 1, \"prompt\": 1, \"output\": 2}\n{\"arrival_ms\": 2, \"prompt\": 1}\n",
            ":2: /output: missing"},
           {"{\"start_times\": [1, 2], \"input_lens\": [1], \"output_lens\": [1, 2]}",
            ": /input_lens: [1]; expected 2"},
           {"{\"timestamp\": 1\n", ""},
       }) {
    CAPTURE(bad);
    const std::string found = trace_refusal(bad);
    CAPTURE(found);
    CHECK(!found.empty());
    CHECK(found.starts_with(said));
  }
}
